// An interactive figure. What it shows is in its table; the script draws it, and writes
// nothing as markup. Without scripts there are the still figure and the table.
(() => {
  "use strict";
  const make = (tag, props, ...children) => {
    const e = Object.assign(document.createElement(tag), props);
    e.append(...children);
    return e;
  };
  for (const root of document.querySelectorAll(".ledg-look:not([data-live])")) {
    root.dataset.live = "yes";
    look(root);
  }

  function look(root) {
    const spec = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    const table = root.querySelector("table"), rows = [...table.tBodies[0].rows];
    const cells = rows.map(row => Array.from(row.cells, c => c.textContent));
    const heads = Array.from(table.tHead.rows[0].cells, c => c.textContent);
    const n = rows.length;
    const kinds = spec.groups.map(g => { // of each point in each group of the legend
      const at = new Map(g.entries.map((e, k) => [e.name, k]));
      return cells.map(c => at.get(c[g.column]));
    });
    const byDomain = 1, byQueried = 2;
    const entry = (g, i) => spec.groups[g].entries[kinds[g][i]];
    const queried = i => entry(byQueried, i).queried;
    const off = spec.groups.map(() => new Set());
    const shown = new Array(n).fill(true);
    const pictures = spec.sheet && new Map((spec.pictures || [...rows.keys()]).map((i, k) => [i, k]));
    const order = []; // no class or domain lies on top of all others; queried points do
    for (const first of [false, true]) for (let k = 0; k < 16; k++) for (let i = k; i < n; i += 16) if (!!queried(i) === first) order.push(i);
    let by = spec.by, here = -1;

    const ink = () => getComputedStyle(root).color;
    const isDark = () => { const [r, g, b] = ink().match(/[\d.]+/g); return 0.3 * r + 0.6 * g + 0.1 * b > 140; }; // the letters are light

    // Marks have the shapes and areas of the still figure's.
    const corners = { square: [4, 1.25, Math.PI / 4], triangle: [3, 1.5, -Math.PI / 2], diamond: [4, 1.3, 0], wedge: [3, 1.5, Math.PI / 2] };
    function mark(c, x, y, r, shape, color, isHollow) {
      c.beginPath();
      const [count, scale, angle] = corners[shape] || [0];
      if (!count) c.arc(x, y, r, 0, 2 * Math.PI);
      for (let k = 0; k < count; k++) c.lineTo(x + r * scale * Math.cos(angle + 2 * Math.PI * k / count), y + r * scale * Math.sin(angle + 2 * Math.PI * k / count));
      c.closePath();
      c.fillStyle = c.strokeStyle = color;
      c.lineWidth = Math.max(1, 0.35 * r);
      if (isHollow) c.stroke(); else c.fill();
    }
    function cross(c, x, y, color, edge) {
      for (const [reach, width, style] of [[4.4, 3.4, edge], [3.6, 1.6, color]]) {
        if (!style) continue;
        c.beginPath();
        c.moveTo(x - reach, y - reach); c.lineTo(x + reach, y + reach); c.moveTo(x - reach, y + reach); c.lineTo(x + reach, y - reach);
        c.strokeStyle = style; c.lineWidth = width;
        c.stroke();
      }
    }
    // The canvas in the resolution of the screen, empty.
    function fresh(canvas) {
      const { width, height } = canvas.getBoundingClientRect(), dots = window.devicePixelRatio || 1;
      canvas.width = Math.round(width * dots); canvas.height = Math.round(height * dots);
      const c = canvas.getContext("2d");
      c.scale(dots, dots);
      return [c, width, height];
    }

    const status = make("div", { className: "status", ariaLive: "polite" });
    const card = make("div", { className: "card", hidden: true, ariaHidden: "true" });
    const sum = make("small");
    const say = text => { status.textContent = text; };

    const panels = spec.panels.map(p => {
      const canvas = make("canvas"), dot = make("div", { className: "here", hidden: true });
      const box = make("div", { className: "panel", tabIndex: 0, role: "application",
        ariaLabel: `${p.title}. Arrow keys go from image to image, Home and End to the first and the last, Enter to its row of the table.` }, canvas, dot);
      const value = column => Float64Array.from(cells, c => c[column] === "" ? NaN : Number(c[column]));
      return { ...p, canvas, dot, box, xs: value(p.x), ys: value(p.y), px: new Float64Array(n), py: new Float64Array(n) };
    });

    function draw(p) {
      const [c, width, height] = fresh(p.canvas);
      if (!width) return;
      const dark = isDark(), color = ink(), left = p.axes ? 46 : 1, low = p.axes ? 36 : 1;
      const range = values => {
        const list = values.filter(v => !Number.isNaN(v)).sort(), lo = list[0] ?? 0, hi = list.at(-1) ?? 0, room = 0.04 * (hi - lo) || 1e-3;
        return [lo - room, hi + room];
      };
      let [x0, x1] = range(p.xs), [y0, y1] = range(p.ys);
      if (!p.axes) { // a map: both axes have one scale
        const half = Math.max(x1 - x0, y1 - y0) / 2, x = (x0 + x1) / 2, y = (y0 + y1) / 2;
        [x0, x1, y0, y1] = [x - half, x + half, y - half, y + half];
      }
      const atX = v => left + (v - x0) / (x1 - x0) * (width - left - 1), atY = v => height - low - (v - y0) / (y1 - y0) * (height - low - 1);
      c.strokeStyle = c.fillStyle = color;
      c.globalAlpha = 0.4;
      c.strokeRect(left, 1, width - left - 1, height - low - 1);
      c.globalAlpha = 1;
      if (p.axes) {
        c.font = `12px ${getComputedStyle(root).fontFamily}`;
        const ticks = (lo, hi) => {
          const raw = (hi - lo) / 5, ten = 10 ** Math.floor(Math.log10(raw)), step = ten * [1, 2, 5, 10].find(k => k * ten >= raw);
          const list = [];
          for (let k = Math.ceil(lo / step); k * step <= hi; k++) list.push([k * step, (k * step).toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)))]);
          return list;
        };
        c.textAlign = "center"; c.textBaseline = "top";
        for (const [v, text] of ticks(x0, x1)) { c.fillRect(atX(v), height - low, 1, 4); c.fillText(text, Math.min(atX(v), width - 12), height - low + 5); }
        c.fillText(heads[p.x], (left + width) / 2, height - 14);
        c.textAlign = "right"; c.textBaseline = "middle";
        for (const [v, text] of ticks(y0, y1)) { c.fillRect(left - 4, atY(v), 4, 1); c.fillText(text, left - 6, Math.max(8, atY(v))); }
        c.save(); c.translate(8, (height - low) / 2); c.rotate(-Math.PI / 2); c.textAlign = "center"; c.fillText(heads[p.y], 0, 0); c.restore();
      }
      const r = Math.min(Math.max(2.6 * Math.sqrt(1200 / n), 1.8), 4);
      for (const i of order) {
        p.px[i] = atX(p.xs[i]); p.py[i] = atY(p.ys[i]);
        if (!shown[i] || Number.isNaN(p.px[i] + p.py[i])) continue;
        const e = entry(by, i);
        c.globalAlpha = 0.85;
        if (by !== byQueried || !queried(i)) mark(c, p.px[i], p.py[i], r, e.shape, dark ? e.dark : e.light, entry(byDomain, i).hollow);
        c.globalAlpha = 1;
        if (queried(i)) cross(c, p.px[i], p.py[i], by !== byQueried ? color : dark ? e.dark : e.light, dark ? "#16191d" : "#fff");
      }
    }
    const redraw = () => { panels.forEach(draw); swatches(); if (here >= 0) point(here, null); };

    // point shows an image on all panels, and its card at one; -1 is none.
    function point(i, at) {
      here = i;
      for (const p of panels) {
        p.dot.hidden = i < 0 || Number.isNaN(p.px[i] + p.py[i]);
        if (!p.dot.hidden) { p.dot.style.left = `${p.px[i]}px`; p.dot.style.top = `${p.py[i]}px`; }
      }
      card.hidden = i < 0;
      if (i < 0) return say("");
      if (!at) return;
      const lines = heads.map((h, k) => k > 0 && !spec.silent.includes(k) && cells[i][k] !== "" ? `${h}: ${cells[i][k]}` : "").filter(Boolean);
      const words = make("div", {}, make("b", { textContent: cells[i][0] }), ...lines.map(textContent => make("span", { textContent })));
      card.replaceChildren(words);
      card.classList.toggle("dark", isDark());
      const place = pictures && pictures.get(i);
      if (Number.isInteger(place)) {
        const picture = make("div", { className: "picture" }), s = 96;
        picture.style.backgroundImage = `url(${spec.sheet})`;
        picture.style.backgroundSize = `${s * spec.columns}px auto`;
        picture.style.backgroundPosition = `${-s * (place % spec.columns)}px ${-s * Math.floor(place / spec.columns)}px`;
        card.prepend(picture);
      } else if (pictures) words.append(make("small", { textContent: "no picture in this sample" }));
      const box = at.box.getBoundingClientRect(), whole = root.getBoundingClientRect();
      const x = box.left - whole.left + at.px[i], y = box.top - whole.top + at.py[i];
      const left = x + 14 + card.offsetWidth > whole.width ? x - 14 - card.offsetWidth : x + 14;
      card.style.left = `${Math.max(0, left)}px`;
      card.style.top = `${Math.max(0, y + 14 + card.offsetHeight > whole.height ? y - 14 - card.offsetHeight : y + 14)}px`;
      return [cells[i][0], ...lines].join(", ");
    }

    for (const p of panels) {
      const nearest = (x, y, far, cost) => {
        let best = -1, least = far;
        for (let i = 0; i < n; i++) {
          if (!shown[i]) continue;
          const d = cost(p.px[i] - x, p.py[i] - y);
          if (d < least) [best, least] = [i, d];
        }
        return best;
      };
      const hover = e => {
        const box = p.box.getBoundingClientRect();
        const i = nearest(e.clientX - box.left, e.clientY - box.top, 14, Math.hypot);
        if (i !== here) point(i, p);
      };
      p.box.addEventListener("pointermove", hover);
      p.box.addEventListener("pointerdown", hover);
      p.box.addEventListener("pointerleave", () => { if (document.activeElement !== p.box) point(-1); });
      p.box.addEventListener("blur", () => point(-1));
      // A step goes to the nearest image ahead, to the side counting twice.
      const ahead = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
      p.box.addEventListener("keydown", e => {
        if (e.ctrlKey || e.metaKey || e.altKey) return;
        const visible = order.filter(i => shown[i] && !Number.isNaN(p.px[i] + p.py[i])).sort((a, b) => a - b);
        let to = here;
        if (ahead[e.key] && here < 0) to = nearest(p.box.clientWidth / 2, p.box.clientHeight / 2, Infinity, Math.hypot);
        else if (ahead[e.key]) {
          const [dx, dy] = ahead[e.key];
          to = nearest(p.px[here], p.py[here], Infinity, (x, y) => {
            const along = x * dx + y * dy, side = Math.abs(x * dy) + Math.abs(y * dx);
            return along > 0.01 && side <= 2 * along ? along + 2 * side : Infinity;
          });
          if (to < 0) to = here;
        } else if (e.key === "Home") to = visible[0];
        else if (e.key === "End") to = visible.at(-1);
        else if (e.key === "Escape") to = -1;
        else if (e.key === "Enter" && here >= 0) {
          const row = rows[here];
          table.closest("details").open = true;
          row.tabIndex = -1;
          row.focus();
        } else return;
        e.preventDefault();
        e.stopPropagation();
        if (e.key !== "Enter") say(point(to ?? -1, p) || "");
      });
    }

    // The legend: what is shown, and what the colours are.
    const form = make("form", { className: panels.length > 1 ? "below" : "" });
    const drawn = []; // pictures of marks and what they show
    const count = () => { sum.textContent = `${shown.filter(Boolean).length.toLocaleString("en")} of ${n.toLocaleString("en")} images shown`; };
    function apply() {
      for (let i = 0; i < n; i++) {
        shown[i] = spec.groups.every((_, g) => !off[g].has(kinds[g][i]));
        rows[i].hidden = !shown[i];
      }
      if (here >= 0 && !shown[here]) point(-1);
      redraw();
      count();
      say(sum.textContent);
    }
    spec.groups.forEach((g, k) => {
      const boxes = [], entries = make("div", { className: "entries" });
      entries.classList.toggle("long", g.entries.some(e => e.name.length > 5));
      g.entries.forEach((e, j) => {
        const box = make("input", { type: "checkbox", checked: true }), canvas = make("canvas");
        box.addEventListener("change", () => { box.checked ? off[k].delete(j) : off[k].add(j); apply(); });
        boxes.push(box);
        drawn.push([canvas, k, e]);
        const total = kinds[k].filter(v => v === j).length;
        entries.append(make("label", {}, box, canvas, make("span", {}, e.name, " ", make("small", { textContent: total.toLocaleString("en") }))));
      });
      const [all, none] = [true, false].map(on => {
        const b = make("button", { type: "button", textContent: on ? "all" : "none", ariaLabel: `show ${on ? "all" : "none"}: ${g.title.toLowerCase()}` });
        b.addEventListener("click", () => { boxes.forEach((box, j) => { box.checked = on; on ? off[k].delete(j) : off[k].add(j); }); apply(); });
        return b;
      });
      const radio = make("input", { type: "radio", name: "by", checked: k === by });
      radio.addEventListener("change", () => { by = k; redraw(); });
      form.append(make("fieldset", {}, make("legend", { textContent: g.title }),
        make("div", { className: "of" }, make("label", {}, radio, "colour by"), all, none), entries));
    });
    form.append(make("div", {}, sum));
    form.addEventListener("submit", e => e.preventDefault());
    function swatches() {
      const color = ink(), dark = isDark();
      for (const [canvas, k, e] of drawn) {
        canvas.hidden = !(e.queried || e.hollow || k === by);
        const [c] = fresh(canvas), own = k !== by ? color : dark ? e.dark : e.light;
        if (e.queried) cross(c, 7, 7, own);
        else mark(c, 7, 7, 4, k === by ? e.shape : "", own, e.hollow);
      }
    }

    const field = make("div", { className: "panels" }, ...panels.map(p => p.box));
    root.querySelector(".live").append(field, form);
    root.append(card, status);
    for (const part of root.querySelectorAll(".live, .how, .still")) part.hidden = part.className === "still";
    // Arrow keys are the figure's, not the notebook's.
    root.dataset.lmSuppressShortcuts = "true";
    if (window.Jupyter && window.Jupyter.keyboard_manager) window.Jupyter.keyboard_manager.register_events(root);
    count();
    new ResizeObserver(redraw).observe(field);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => requestAnimationFrame(redraw));
    new MutationObserver(redraw).observe(document.body, { attributes: true });
  }
})();
