// The labelling page. What it shows comes from the server as JSON and is set as text,
// never as markup. A label is sent, written to disk by the server, and only then is
// the next image shown. The image on screen, its revision and what was pressed make one
// request; the server refuses it if somebody else labelled the image meanwhile.
"use strict";
(() => {
  const $ = id => document.getElementById(id);
  const pause = 150;     // milliseconds in which a second key is a slip
  const manyKeys = 20;   // more classes than this are chosen by typing
  const client = Array.from(crypto.getRandomValues(new Uint32Array(4)), n => n.toString(36)).join("");

  let setup, view;       // the configuration, and the state of this window
  let mode = "one";      // one, many or list
  let keys = [];         // of each class, or ""
  let typing = false;    // classes are chosen by typing
  let whole = false;     // a label is for all of a group
  let noneKey = "";      // of none of the classes
  const noClass = { toString: () => "None of these" }; // in place of a thumbnail's class
  let digits = true;     // digits choose among the classes that are shown
  let ready = false;     // the image on screen can be labelled
  let broken = false;    // the image on screen cannot be shown
  let busy = false;      // a request is on its way
  let last = 0;          // when the last key was taken
  let predicted = null;   // the prediction that is shown
  let grid = null;       // the page of thumbnails
  let gridSkip = new Set();
  let picking = null;    // the thumbnail whose class is being changed
  let listed = { state: "labelled", from: 0, class: "" };  // where the list goes on
  let found = null;      // what is to be looked at again, of the list
  const pictures = new Map(); // IDs to images that load or have loaded

  // Time that the image is on screen and the page is looked at.
  const watch = {
    sum: 0, since: 0,
    start() { this.sum = 0; this.since = document.hidden ? 0 : performance.now(); },
    stop() { if (this.since) { this.sum += performance.now() - this.since; this.since = 0; } },
    go() { if (!this.since) this.since = performance.now(); },
    seconds() { return (this.sum + (this.since ? performance.now() - this.since : 0)) / 1000; },
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) watch.stop();
    else { watch.go(); if (!busy && setup && !ready && mode === "one") refresh(); }
  });

  const wait = ms => new Promise(done => setTimeout(done, ms));
  const make = (tag, props, ...children) => {
    const e = Object.assign(document.createElement(tag), props);
    e.append(...children);
    return e;
  };
  const say = text => { $("live").textContent = text; };
  const notice = text => { $("notice").textContent = text; $("notice").hidden = !text; };
  const plural = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

  // call repeats a request until the server replies: it may have been restarted. A refusal
  // is thrown.
  async function call(path, body) {
    for (let tries = 0; ; tries++) {
      let reply;
      try {
        reply = await fetch(path, body === undefined ? {} : {
          method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
        });
      } catch {
        if (tries > 0) notice(body === undefined ? "The server does not answer. Trying again …"
          : "The server does not answer, and the last label is not saved yet. Trying again …");
        await wait(Math.min(250 * (tries + 1), 2000));
        continue;
      }
      if (tries > 1) notice("");
      const data = await reply.json().catch(() => ({}));
      if (!reply.ok && reply.status !== 409) {
        const why = data.error || (reply.status === 404 ? "This address is no longer valid: the server was started anew. Open the address that it printed." : `the server says ${reply.status}`);
        throw new Error(why);
      }
      return data;
    }
  }

  const query = args => new URLSearchParams({ client, ...args }).toString();
  const imageURL = id => "image?" + new URLSearchParams({ id });
  const thumbURL = id => "thumb?" + new URLSearchParams({ id });

  // act sends one act and shows what follows. Nothing else is taken meanwhile.
  async function act(body, message) {
    if (busy) return false;
    busy = true;
    document.body.setAttribute("aria-busy", "true");
    try {
      const data = await call("act", { client, ...body });
      notice(data.notice || data.view.notice || "");
      view = data.view;
      await show(data.notice || message);
      return true;
    } catch (e) {
      notice(`Not saved: ${e.message}`);
      return false;
    } finally {
      busy = false;
      document.body.removeAttribute("aria-busy");
    }
  }

  async function refresh(args = {}) {
    if (busy) return;
    busy = true;
    try {
      view = await call("view?" + query(args));
      notice(view.notice || "");
      await show();
    } catch (e) { notice(e.message); } finally { busy = false; }
  }

  // picture returns the image of an ID, which may still load.
  function picture(id) {
    let p = pictures.get(id);
    if (!p) {
      const img = make("img", { alt: "Image to label", decoding: "async", draggable: false });
      img.src = imageURL(id);
      p = { img, loaded: img.decode().then(() => true, () => false) };
      pictures.set(id, p);
      p.loaded.then(ok => { if (!ok) pictures.delete(id); });
    }
    return p;
  }

  // wholePicture shows the picture of a box with its outline, and the box again.
  function wholePicture() {
    const q = view.question;
    if (!setup.boxes || mode !== "one" || !q || !ready || broken) return;
    const p = picture(q.id), there = $("stage").firstChild;
    if (there !== p.img) { $("stage").replaceChildren(p.img); look(plain); say("The box"); return; }
    const img = make("img", { alt: "Picture with the box", decoding: "async", draggable: false });
    img.src = "image?" + new URLSearchParams({ id: q.id, whole: 1 });
    img.decode().then(() => { if (view.question === q && $("stage").firstChild === p.img) { $("stage").replaceChildren(img); look(plain); say(img.alt); } }, e => notice(e.message));
  }

  async function show(message) {
    bars();
    if (mode === "many") return showMany(message);
    if (mode === "list") return showList(message);
    const q = view.question;
    $("one").hidden = !q;
    $("end").hidden = !!q;
    ready = broken = false;
    predicted = null;
    $("prediction").replaceChildren();
    setFilter("");
    if (!q) { showEnd(message); return; }
    delete $("end-list").dataset.have;
    document.body.dataset.view = "one";
    for (const id of pictures.keys()) if (id !== q.id && !view.next.includes(id)) pictures.delete(id);
    const p = picture(q.id);
    $("domain").textContent = q.domain;
    $("round").textContent = q.round >= 0 ? (q.round === 0 ? "first labels" : `round ${q.round}`) : "";
    $("file").textContent = $("file").title = q.file;
    $("had").textContent = q.current ? `now: ${q.current}` : "";
    for (const b of $("classes").children) b.classList.toggle("on", b.id === "none" ? q.current === "none of these" : !!q.class && b.dataset.name === q.class);
    showGroup();
    const settle = ok => {
      if (view.question !== q || mode !== "one") return;
      if (ok) {
        p.img.alt = `Image to label, site ${q.domain}`;
        p.img.classList.toggle("tiny", Math.max(p.img.naturalWidth, p.img.naturalHeight) <= 96);
        if ($("stage").firstChild !== p.img) $("stage").replaceChildren(p.img);
        look(plain);
      } else {
        const p = make("p", { textContent: "This image cannot be shown. Call it bad, or skip it." });
        $("stage").replaceChildren(p);
        fetch(imageURL(q.id)).then(r => r.ok ? "" : r.text()).then(why => { if (why) p.textContent = `This image cannot be shown: ${why}. Call it bad, or skip it.`; }, () => {});
      }
      ready = true;
      broken = !ok;
      enable();
      watch.start();
      say(`${message ? message + ". " : ""}Image ${q.current ? "labelled before" : "to label"}, site ${q.domain}. ${whole && q.group ? `${$("group-text").textContent}. ` : ""}${$("count").textContent}`);
      view.next.forEach(picture);
    };
    enable();
    $("stage").dataset.id = q.id;
    const skip = $("marks").querySelector("[data-act=skip]");
    skip.firstChild.textContent = q.later ? "Leave out" : "Skip";
    skip.title = q.later ? "Finish without this image" : "Show it again at the end";
    const g = $("marks").querySelector("[data-act=prediction]");
    g.disabled = !q.predicted;
    g.title = q.predicted ? "What the model predicts" : "There is no prediction for this image";
    if (p.img.complete && p.img.naturalWidth) { settle(true); return; }
    const blank = setTimeout(() => { if (!ready && view.question === q) $("stage").replaceChildren(); }, 120);
    p.loaded.then(ok => { clearTimeout(blank); settle(ok); });
  }

  // How the image on screen is looked at; the next one begins anew.
  const plain = { zoom: 1, x: 0, y: 0, light: 1 };
  let sight = { ...plain };
  function look(change) {
    sight = { ...sight, ...change };
    sight.zoom = Math.min(16, Math.max(1, sight.zoom));
    sight.light = Math.min(8, Math.max(0.25, sight.light));
    const most = 50 * (sight.zoom - 1); // percent of the stage
    sight.x = Math.min(most, Math.max(-most, sight.x));
    sight.y = Math.min(most, Math.max(-most, sight.y));
    const img = $("stage").querySelector("img");
    if (!img) return;
    img.style.transform = sight.zoom > 1 ? `translate(${sight.x}%, ${sight.y}%) scale(${sight.zoom})` : "";
    img.style.filter = sight.light === 1 ? "" : `brightness(${sight.light})`;
  }
  function fullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen().catch(() => notice("The browser does not allow full screen here."));
  }
  // lookKey takes the keys that change how the image is looked at.
  function lookKey(e) {
    const step = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];
    if (step && e.shiftKey) look({ x: sight.x + 20 * step[0], y: sight.y + 20 * step[1] });
    else if (e.key === "+" || e.key === "=") look({ zoom: sight.zoom * 1.5 });
    else if (e.key === "-") look({ zoom: sight.zoom / 1.5 });
    else if (e.key === ".") look({ light: sight.light * 1.25 });
    else if (e.key === ",") look({ light: sight.light / 1.25 });
    else if (e.key === "Home") look(plain);
    else return false;
    return true;
  }

  // showGroup shows which images a label is for.
  function showGroup() {
    const g = view && view.question && view.question.group;
    $("group").hidden = !setup.groups;
    $("whole").disabled = !g && !whole;
    $("whole").setAttribute("aria-pressed", whole);
    $("group-text").textContent = !g ? "No other image of a group is open" : whole ? `The label is for all ${g.n} open images of group ${g.name}` : `${g.n} open images in group ${g.name}`;
    $("group-thumbs").replaceChildren(...(g && whole ? g.others : []).map(id => {
      const img = make("img", { alt: "", loading: "lazy", decoding: "async", draggable: false });
      img.src = thumbURL(id);
      return img;
    }));
  }

  function wholeGroups() {
    if (mode !== "one" || !setup.groups || $("whole").disabled) return;
    whole = !whole;
    showGroup();
    say(whole ? $("group-text").textContent : "The label is for one image");
  }

  // enable says which buttons do something now, to eyes and ears.
  function enable() {
    document.body.dataset.ready = ready ? (broken ? "broken" : "yes") : "no";
    for (const b of $("classes").querySelectorAll("button")) b.disabled = broken;
  }

  function bars() {
    const n = view.n, done = n.labelled + n.unsure + n.bad + n.none;
    $("count").textContent = `you (${setup.by}): ` + (n.total ? `${done.toLocaleString("en")} of ${n.total.toLocaleString("en")}${n.later ? `, ${n.later} put off` : ""}${n.skipped ? `, ${n.skipped} left out` : ""}` : "nothing to label");
    $("meter").style.setProperty("--done", n.total ? done / n.total : 0);
    $("meter").setAttribute("aria-valuenow", done);
    $("meter").setAttribute("aria-valuemax", n.total);
    $("undo").disabled = !view.undo;
    $("redo").disabled = !view.redo;
    if (setup.none) $("none").lastChild.textContent = n.none || "";
    [...$("classes").children].forEach(b => {
      if (b.dataset.at === undefined) return;
      b.lastChild.textContent = view.byClass[b.dataset.at] || "";
      b.lastChild.title = `${plural(view.byClass[b.dataset.at], "image", "images")} so far`;
    });
    const rows = $("domains").querySelector("tbody");
    while (rows.children.length < setup.domains.length) {
      rows.append(make("tr", {}, make("td"), make("td"), make("td", { className: "bar" }, make("span", { ariaHidden: "true" }, make("i")))));
    }
    setup.domains.forEach((name, k) => {
      const [done, total] = view.byDomain[k], cells = rows.children[k].children;
      rows.children[k].hidden = total === 0;
      cells[0].textContent = name;
      cells[1].textContent = `${done.toLocaleString("en")} of ${total.toLocaleString("en")}`;
      cells[2].querySelector("i").style.setProperty("--done", total ? done / total : 0);
    });
  }

  // Classes.
  const reserved = "suxghmlnzf";
  function assignKeys(names) {
    noneKey = "0";
    if (names.length > manyKeys) {
      typing = true;
      noneKey = "⇧0";
      digits = !names.some(n => /[0-9]/.test(n));
      return names.map(() => "");
    }
    const own = names.map(n => n.trim().toLowerCase());
    const taken = reserved + (setup.groups ? "a" : "") + (setup.boxes ? "b" : "");
    if (own.every(n => /^[0-9a-z]$/.test(n) && !taken.includes(n)) && new Set(own).size === own.length) {
      if (own.includes("0")) noneKey = "⇧0";
      return own;
    }
    const rest = [..."123456789qwertyiop" + (setup.groups ? "d" : "a") + "k"];
    return names.map(n => n === "none of these" ? "0" : rest.shift());
  }

  function buildClasses() {
    keys = assignKeys(setup.classes);
    const box = $("classes");
    box.classList.toggle("two", setup.classes.length > 8);
    box.replaceChildren(...setup.classes.map((name, i) => {
      const key = make("kbd", { textContent: keys[i].toUpperCase(), hidden: !keys[i] });
      const b = make("button", { className: "class" }, key, make("b", { textContent: name, title: name }), make("i"));
      b.dataset.at = i;
      b.dataset.name = name;
      if (keys[i]) b.setAttribute("aria-keyshortcuts", keys[i]);
      return b;
    }));
    if (setup.none) {
      const none = make("button", { id: "none", className: "class" }, make("kbd", { textContent: noneKey }), make("b", { textContent: "None of these" }), make("i"));
      none.setAttribute("aria-keyshortcuts", noneKey.replace("⇧", "Shift+"));
      box.append(none);
    }
    document.body.classList.toggle("typing", typing);
    document.body.classList.toggle("several", !typing && setup.classes.length > 10);
    $("other-key").textContent = typing ? "⇧N" : "N";
    $("filter-row").hidden = !typing;
    if (typing) { $("whole").querySelector("kbd").textContent = "⇧A"; $("whole").setAttribute("aria-keyshortcuts", "Shift+a"); }
    for (const b of $("marks").children) {
      const k = { skip: "s", unsure: "u", bad: "x", prediction: "g" }[b.dataset.act];
      b.append(make("kbd", { textContent: (typing ? "⇧" : "") + k.toUpperCase() }));
      b.setAttribute("aria-keyshortcuts", (typing ? "Shift+" : "") + k);
    }
  }

  const shownClasses = () => [...$("classes").children].filter(b => b.dataset.at !== undefined && !b.hidden);

  function setFilter(text) {
    if (!typing) return;
    $("filter").value = text;
    filter();
  }
  // matching returns the classes that a text may mean, and the place of the one that it
  // names in full, or 0.
  function matching(text) {
    const want = text.trim().toLowerCase();
    const starts = n => n.toLowerCase().split(/[\s_/-]+/).some(w => w.startsWith(want)) || n.toLowerCase().startsWith(want);
    let hits = setup.classes.filter(starts);
    if (!hits.length) hits = setup.classes.filter(n => n.toLowerCase().includes(want));
    return [hits, Math.max(0, hits.findIndex(n => n.toLowerCase() === want))];
  }
  function filter() {
    const want = $("filter").value.trim();
    const buttons = [...$("classes").children].filter(b => b.dataset.at !== undefined);
    const [hits, exact] = matching(want);
    buttons.forEach(b => {
      const at = hits.indexOf(b.dataset.name);
      b.hidden = at < 0;
      b.classList.toggle("first", !!want && at === exact);
      const key = digits && at >= 0 && at < 10 ? "1234567890"[at] : "";
      b.firstChild.textContent = key;
      b.firstChild.hidden = !key;
    });
    let none = $("classes").querySelector(".none");
    if (!hits.length && !none) $("classes").append(make("p", { className: "none", textContent: "No class has this in its name." }));
    if (hits.length && none) none.remove();
    $("classes").scrollTop = 0;
  }

  // Labels.
  function take() { // whether a key or a click counts now
    const now = performance.now();
    if (busy || now - last < pause) return false;
    last = now;
    return true;
  }

  function label(op, name) {
    const q = view.question;
    if (mode !== "one" || !q || !ready || !take()) return;
    if (broken && op === "label") return;
    if (op === "label" && whole && q.group) op = "group";
    const body = { op, id: q.id, rev: q.rev, seconds: watch.seconds() };
    if (name !== undefined) body.class = name;
    if (predicted) body.prediction_shown = true; // whatever the label: it may have biased it
    act(body, { label: `Saved ${name}`, group: `Saved ${name} for all of the group`, skip: q.later ? "Left out" : "Put off until the end", none: "None of these", unsure: "Unsure", bad: "Bad image" }[op]);
  }

  async function predict() {
    const q = view.question;
    if (mode !== "one" || !q || !ready || busy) return;
    if (!q.predicted) { $("prediction").replaceChildren("There is no prediction for this image."); return; }
    try {
      const g = await call("prediction?" + query({ id: q.id }));
      if (view.question !== q) return;
      predicted = g;
      const accept = make("button", { className: "plain" }, make("span", { textContent: "Accept" }), make("kbd", { textContent: "Enter" }));
      accept.addEventListener("click", () => label("label", g.class));
      $("prediction").replaceChildren(make("span", {}, `${g.source || "Prediction"}: `, make("b", { textContent: g.class }), g.probability ? `, ${Math.round(100 * g.probability)}%` : ""), accept);
    } catch (e) { notice(e.message); }
  }

  function step(op) { // undo or redo
    found = null;
    if (view && view[op] && take()) act({ op }, op === "undo" ? "Undone" : "Redone");
  }

  // Many at once.
  const gridSize = () => innerWidth <= 760 ? 12 : innerWidth <= 1100 || innerHeight < 700 ? 20 : 30;

  async function showMany(message) {
    for (const s of ["one", "end", "list"]) $(s).hidden = true;
    $("many").hidden = false;
    document.body.dataset.view = "many";
    try {
      grid = await call("grid?" + query({ n: gridSize(), not: [...gridSkip].join(",") }));
    } catch (e) { notice(e.message); return; }
    if (mode !== "many") return;
    offer(null);
    const empty = !grid.items.length;
    $("confirm").hidden = $("other").hidden = empty;
    $("other").disabled = grid.classes < 2;
    if (empty) {
      $("many-title").textContent = setup.predictions ? "Nothing left to confirm" : "There is nothing to confirm yet";
      $("many-help").textContent = setup.predictions ? "Every image with a prediction is labelled."
        : "Here you confirm the most confident predictions, a page at a time. They come from a run after its first query, or from --predictions FILE, a table of ledg predict.";
      $("thumbs").replaceChildren();
      return;
    }
    $("many-title").replaceChildren("Are all of these ", make("mark", { textContent: grid.class }), "?");
    $("many-help").textContent = `Surest first, ${grid.more ? "more than " : ""}${plural(grid.left, "image", "images")} in all. ${matchMedia("(pointer: coarse)").matches ? "Tap the ones that are not"
      : `Mark the ones that are not: click, or arrows and space; ${typing ? "letters choose" : "a class’s key gives"} another class`}. Then confirm the page.`;
    $("thumbs").replaceChildren(...grid.items.map((item, i) => {
      const img = make("img", { alt: "", decoding: "async", draggable: false });
      img.src = thumbURL(item.id);
      const b = make("button", { className: "thumb" }, img, make("span"));
      img.addEventListener("error", () => mark(b, item, null));
      b.addEventListener("click", () => { mark(b, item, item.class === grid.class ? null : grid.class); offer(b); });
      b.addEventListener("focus", () => offer(b));
      b.dataset.at = i;
      mark(b, item, grid.class);
      return b;
    }));
    $("thumbs").firstChild.focus({ preventScroll: true });
    watch.start();
    say(`${message ? message + ". " : ""}${$("many-title").textContent} ${grid.items.length} images.`);
    ready = true;
    enable();
  }

  function mark(b, item, name) {
    item.class = name;
    b.setAttribute("aria-pressed", name !== null);
    b.classList.toggle("other", name !== null && name !== grid.class);
    b.lastChild.textContent = name === null ? `not ${grid.class}` : name === grid.class && item.probability ? `${Math.round(100 * item.probability)}%` : name;
    b.setAttribute("aria-label", `Image ${+b.dataset.at + 1}, ${item.domain}: ${name === null ? `not ${grid.class}` : name}`);
  }

  // offer shows other classes for a thumbnail that is marked, or none.
  function offer(b) {
    const item = b && grid.items[b.dataset.at];
    picking = item && item.class !== grid.class ? b : null;
    $("pick").hidden = !picking;
    if (!picking) return;
    $("pick-label").textContent = `Image ${+b.dataset.at + 1} is not ${grid.class} but`;
    $("pick-filter").hidden = !typing;
    $("pick-filter").value = "";
    fillPicks();
  }

  function fillPicks() {
    const [all, best] = typing ? matching($("pick-filter").value) : [setup.classes, -1];
    const hits = all.filter(name => name !== grid.class), first = Math.max(0, hits.indexOf(all[best]));
    const pick = (name, key) => {
      const b = make("button", { className: "class" }, make("kbd", { textContent: key, hidden: !key }), make("b", { textContent: name, title: name }));
      b.classList.toggle("on", name === grid.items[picking.dataset.at].class);
      b.addEventListener("click", () => choosePick(name));
      return b;
    };
    $("picks").replaceChildren(...hits.slice(0, typing ? 10 : hits.length).map((name, i) => {
      const b = pick(name, typing ? (digits ? "1234567890"[i] : "") : keys[setup.classes.indexOf(name)].toUpperCase());
      b.classList.toggle("first", i === first && typing && !!$("pick-filter").value.trim());
      b.dataset.name = name;
      return b;
    }), ...(setup.none ? [pick(noClass, noneKey)] : []));
    if (!hits.length) $("picks").append(make("p", { className: "none", textContent: "No class has this in its name." }));
  }

  function choosePick(name) {
    const b = picking;
    mark(b, grid.items[b.dataset.at], name);
    b.focus({ preventScroll: true });
    offer(b);
    say(b.getAttribute("aria-label"));
  }

  // pickKey takes a key in the field that filters the classes of a thumbnail.
  function pickKey(e) {
    const digit = /^(?:Digit|Numpad)([0-9])$/.exec(e.code);
    const leave = e.key === "Escape" || e.key === "Backspace" && !$("pick-filter").value;
    let name;
    const none = setup.none && e.shiftKey && digit && digit[1] === "0", named = $("picks").querySelectorAll("[data-name]");
    if (none) name = noClass;
    else if (e.key === "Enter") name = ($("picks").querySelector(".first") || named[0])?.dataset.name;
    else if (digits && digit) name = named[(+digit[1] + 9) % 10]?.dataset.name;
    if (e.key !== "Enter" && !(digits && digit) && !none && !leave) return;
    e.preventDefault();
    if (e.repeat) return;
    if (leave) picking.focus({ preventScroll: true });
    else if (name !== undefined) choosePick(name);
  }

  function confirmPage() {
    if (mode !== "many" || !grid || !grid.items.length || !take()) return;
    const right = grid.items.filter(i => i.class !== null).length;
    act({
      op: "page", seconds: watch.seconds(),
      items: grid.items.map(i => ({ id: i.id, rev: i.rev, class: i.class === null || i.class === noClass ? "" : i.class, none: i.class === noClass })),
    }, `Saved ${plural(right, "image", "images")}`);
  }

  function otherClass() {
    if (mode !== "many" || !grid || grid.classes < 2 || !take()) return;
    gridSkip.add(grid.at);
    if (gridSkip.size >= grid.classes) gridSkip = new Set([grid.at]);
    showMany();
  }

  function moveFocus(box, key) {
    const all = [...box.querySelectorAll("button")], at = all.indexOf(document.activeElement);
    if (!all.length) return;
    const columns = all.filter(e => e.offsetTop === all[0].offsetTop).length;
    const to = at < 0 ? 0 : at + { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key];
    if (all[to]) all[to].focus();
  }

  // The labels so far, and those to review.
  const states = [["labelled", "Labelled"], ["none", "None of these"], ["unsure", "Unsure"], ["skipped", "Left out"], ["bad", "Bad image"]];
  const reviews = [["suspicious", "Suspicious labels"], ["duplicates", "Near-duplicates"], ["groups", "Groups of several classes"]];
  const reviewing = () => reviews.some(([state]) => state === listed.state);

  async function showList(message) {
    for (const s of ["one", "end", "many"]) $(s).hidden = true;
    $("list").hidden = false;
    document.body.dataset.view = "list";
    $("chips").replaceChildren(...[...states, ...(setup.reviews ? reviews.filter(([state]) => setup.groups || state !== "groups") : [])].map(([state, name]) => {
      const n = view.n[state];
      const b = make("button", { textContent: n === undefined ? name : `${name} ${n.toLocaleString("en")}` });
      b.setAttribute("aria-pressed", state === listed.state);
      b.addEventListener("click", () => { found = null; listed = { ...listed, state, from: 0 }; showList(); $("chips").querySelector("[aria-pressed=true]").focus(); });
      return b;
    }));
    $("by-class-row").hidden = !["labelled", "unsure"].includes(listed.state);
    $("by-class").replaceChildren(make("option", { value: "", textContent: "all classes" }),
      ...setup.classes.map((name, i) => make("option", { value: name, textContent: `${name} (${view.byClass[i].toLocaleString("en")})` })));
    $("by-class").value = listed.class;
    if (message) say(message);
    if (reviewing()) { if (!found) await showReview(); return; }
    $("labelled").className = "thumbs";
    $("review-help").textContent = "";
    $("labelled").replaceChildren();
    listed.from = 0;
    await listMore();
  }

  async function listMore() {
    const { state, from } = listed, only = $("by-class-row").hidden ? "" : listed.class;
    try {
      const page = await call("list?" + query({ state, from, class: only, n: 60 }));
      if (listed.state !== state || listed.from !== from || mode !== "list" || ($("by-class-row").hidden ? "" : listed.class) !== only) return;
      listed.from = page.next;
      $("labelled").append(...page.items.map(opener));
      if (!$("labelled").firstChild) $("labelled").append(make("p", { className: "muted", textContent: "None." }));
      $("more").hidden = !page.next;
    } catch (e) { notice(e.message); }
  }

  // showReview asks for a list until it is found, and shows it.
  async function showReview() {
    const state = listed.state, here = () => mode === "list" && listed.state === state;
    $("more").hidden = true;
    $("labelled").replaceChildren();
    const pairs = state !== "suspicious";
    $("labelled").className = pairs ? "thumbs cards pairs" : "thumbs cards";
    const working = pairs ? "Comparing the images …" : "Judging each label by the others …";
    $("review-help").textContent = working;
    try {
      for (;;) {
        const reply = await call("review?" + query({ kind: state }));
        if (!here()) return;
        if (!reply.working) { found = reply; break; }
        $("review-help").textContent = working + (reply.percent ? ` ${reply.percent}%` : "");
      }
    } catch (e) { notice(e.message); return; }
    $("labelled").replaceChildren(...found.items.map(pairs ? pairCard : suspectCard));
    reviewHelp();
  }

  function reviewHelp() {
    const n = $("labelled").querySelectorAll(".card").length;
    $("review-help").textContent = found.why || (!n ? "None."
      : listed.state === "duplicates" ? `${plural(n, "pair", "pairs")} of images that are nearly the same, without the same label; the nearest first.`
      : listed.state === "groups" ? `${plural(n, "image", "images")} with another label than most of the group, each after one that has it: a wrong label, or more than belongs together.`
      : `${plural(n, "label", "labels")} that the other labels speak against, the most suspicious first. Many are right all the same: look at each.`);
  }

  // settle sends an act about a card, which goes then.
  async function settle(card, body, message) {
    if (!take() || !await act({ seconds: 0, ...body }, message)) return;
    const next = card.nextElementSibling || card.previousElementSibling;
    card.remove();
    reviewHelp();
    if (next) next.querySelector("button.main, button.plain").focus();
  }

  const percent = p => `${Math.round(100 * p)}%`;
  function cardButton(kind, text, f) {
    const b = make("button", { className: kind, textContent: text });
    b.addEventListener("click", f);
    return b;
  }

  function suspectCard(item) {
    const card = make("div", { className: "card" });
    const one = { id: item.id, rev: item.rev };
    card.append(opener(item),
      make("p", {}, "The others say ", make("b", { textContent: item.suggested }), ` (${percent(item.probability)}; ${item.class} ${percent(item.own)})`),
      cardButton("main", `It is ${item.suggested}`, () => settle(card, { op: "label", class: item.suggested, ...one }, `Saved ${item.suggested}`)),
      cardButton("plain", `${item.class} is right`, () => settle(card, { op: "confirm", class: item.class, ...one }, `Saved ${item.class}`)));
    return card;
  }

  function pairCard(item) {
    const card = make("div", { className: "card" });
    const one = { id: item.id, rev: item.rev };
    const look = i => opener({ ...i, current: i.current || "no label" });
    card.append(make("div", { className: "two" }, look(item.first), look(item)));
    if (item.first.class) {
      card.append(cardButton("main", `Same label: ${item.first.class}`, () => settle(card, { op: "label", class: item.first.class, ...one }, `Saved ${item.first.class}`)));
    }
    if (listed.state === "groups") card.append(cardButton("plain", `${item.class} is right`, () => settle(card, { op: "confirm", class: item.class, ...one }, `Saved ${item.class}`)));
    card.append(cardButton("plain", "Leave out the second", () => settle(card, { op: "bad", ...one }, "Left out")));
    return card;
  }

  function opener(item) {
    const img = make("img", { alt: "", loading: "lazy", decoding: "async", draggable: false });
    img.src = thumbURL(item.id);
    const text = item.current;
    const b = make("button", { className: "thumb" }, img, make("span", { textContent: text }));
    b.setAttribute("aria-label", `Look again: ${text}, ${item.domain}, ${item.file}`);
    b.addEventListener("click", () => { if (!busy) { setMode("one", false); refresh({ id: item.id }); } });
    return b;
  }

  // The end.
  // endTitle says what is true of the labels and of the run that they are for.
  function endTitle(n, run) {
    if (view.elsewhere) return "The last images are on other screens";
    if (run && run.finished) return run.changed ? "Corrections are waiting" : "Training is finished";
    if (!n.total) return run && run.active ? "Images are being chosen" : "Nothing to label";
    if (run && run.active) return "Training is running";
    if (run && view.ending) return "Training has stopped";
    return n.skipped ? "All images were shown" : "All images are labelled";
  }
  function endRun(run) {
    if (!run || view.elsewhere) return "";
    if (run.finished) return run.changed ? ` The finished run has not used the changed labels of ${plural(run.changed, "image", "images")}.` : "";
    if (run.active) return ` ${run.training ? `Now: ${run.training}` : "It begins by itself"}. The result appears here.${!run.training || run.training.startsWith("epoch") ? " Labels that change now are used from the next epoch on." : ""}`;
    if (view.ending) return " The terminal shows why.";
    return " No training process reports to this page.";
  }
  async function showEnd(message) {
    document.body.dataset.view = "end";
    const n = view.n, run = view.run, before = $("end-title").textContent;
    $("end-title").textContent = endTitle(n, run);
    $("end-text").textContent = !n.total ? setup.empty
      : `${view.elsewhere ? `Shown there: ${plural(n.open, "image", "images")}. An image comes here when its window is closed, or silent for 90 seconds. ` : ""}${plural(n.labelled, "image", "images")} labelled${n.none ? `, ${n.none} none of these` : ""}${n.unsure ? `, ${n.unsure} unsure` : ""}${n.bad ? `, ${n.bad} bad` : ""}${n.skipped ? `, ${n.skipped} left out` : ""}. Every label is on disk.${endRun(run)}`;
    $("end-estimate").textContent = run && run.estimate || "";
    $("end-estimate").hidden = !run || !run.estimate;
    const next = run ? run.next : setup.next;
    $("end-next").hidden = $("end-how").hidden = !next || !n.total || !!view.elsewhere || !!run && run.active;
    $("end-how").textContent = `${view.ending ? "This page is no longer served. " : ""}Next, in the folder where ledg was started:`;
    $("end-next").textContent = view.ending && setup.again ? `${next}\n${setup.again}` : next;
    const acts = [];
    const button = (text, key, f) => {
      const b = make("button", { className: acts.length ? "plain" : "main" }, make("span", { textContent: text }), make("kbd", { textContent: key }));
      b.addEventListener("click", f);
      acts.push(b);
    };
    if (n.skipped && !view.ending) button(`Go through those left out (${n.skipped})`, "S", () => again_("skipped"));
    if (n.unsure && !view.ending) button(`Go through the unsure (${n.unsure})`, "U", () => again_("unsure"));
    if (n.total && !view.ending) button("See the labels", "L", () => setMode("list"));
    $("end-acts").replaceChildren(...acts);
    $("end-list").hidden = view.ending;
    if (message || before !== $("end-title").textContent) say(`${message ? message + ". " : ""}${$("end-title").textContent}. ${$("end-text").textContent}`);
    const have = `${n.unsure} ${n.skipped}`;
    if (view.ending || $("end-list").dataset.have === have) return;
    $("end-list").dataset.have = have;
    $("end-list").replaceChildren();
    for (const [state, name] of [["unsure", "Unsure"], ["skipped", "Left out"]]) {
      if (!n[state]) continue;
      const page = await call("list?" + query({ state, from: 0, n: 24 })).catch(() => ({ items: [] }));
      if (view.question || mode !== "one" || $("end-list").dataset.have !== have) return;
      $("end-list").append(make("h3", { textContent: `${name}, ${n[state]}` }), make("div", { className: "thumbs" }, ...page.items.map(opener)));
    }
  }
  function again_(state) { if (!view.ending && take()) act({ op: "again", state }); }
  // New questions may come while the page says that there are none.
  setInterval(() => { if (setup && view && !view.question && !view.ending && mode === "one" && !busy && !document.hidden) poll(); }, 1000);
  let lost = 0; // polls in a row without a reply
  async function poll() {
    try {
      const reply = await fetch("view?" + query({}));
      const data = await reply.json();
      if (lost > 2) notice("");
      lost = 0;
      if (reply.ok && !busy && mode === "one" && !view.question && JSON.stringify(data) !== JSON.stringify(view)) { view = data; show(); }
    } catch { // the server may come back
      if (++lost === 3) notice("This page is no longer served. Every label is on disk.");
    }
  }

  function setMode(to, load = true) {
    if (busy) return;
    notice("");
    mode = to;
    found = null;
    ready = false;
    enable();
    for (const [id, m] of [["to-one", "one"], ["to-grid", "many"], ["to-list", "list"]]) {
      if (m === to) $(id).setAttribute("aria-current", "page"); else $(id).removeAttribute("aria-current");
    }
    $("many").hidden = to !== "many";
    $("list").hidden = to !== "list";
    if (to !== "one") { $("one").hidden = $("end").hidden = true; }
    if (load) refresh();
  }

  function help() {
    const rows = typing ? [
      [["A…Z"], "filter the classes"], [digits ? ["1", "…", "0"] : ["Enter"], digits ? "choose one of the first ten shown" : "choose the marked class"],
      ...(digits ? [[["Enter"], "choose the marked class"]] : []),
    ] : [[keys.length > 1 ? [keys[0], "…", keys.at(-1)] : keys, "the class, saved at once"]];
    const s = typing ? "⇧" : "";
    rows.push(
      [["⌫", "←", "Ctrl Z"], "undo"], [["→", "Ctrl ⇧ Z"], "redo"],
      [["Space", s + "S"], "skip: it comes again at the end, where you can leave it out"], [[s + "U"], "unsure: shown again at the end"],
      ...(setup.groups ? [[[s + "A"], "all of this group: the next label is for all of its open images, until pressed again"]] : []),
      ...(setup.none ? [[[noneKey], "none of these classes: leaves the pool, and helps to recognise others of its kind"]] : []),
      [["Del", s + "X"], "bad image: leaves the pool"], [[s + "G"], "what the model predicts; Enter accepts it"],
      [[s + "M"], `many at once: arrows and space mark, ${typing ? "letters choose" : "a class’s key gives"} another class, Enter confirms`], [[s + "L"], "the labels so far, to look at or change"],
      [["+", "-"], "zoom"], [["⇧ ←", "⇧ →", "⇧ ↑", "⇧ ↓"], "move a zoomed image"], [[",", "."], "darker, brighter"], [["Home"], "the image as it is"], [[s + "F"], "full screen"],
      ...(setup.boxes ? [[[s + "B"], "the whole picture with the box, and back"]] : []),
      [["Esc"], "back to one image"], [["?", s + "H"], "this help"]);
    $("keys").replaceChildren(...rows.flatMap(([names, what]) => [
      make("div", {}, ...names.map(k => k === "…" ? make("span", { textContent: "…", className: "muted" }) : make("kbd", { textContent: k.length === 1 ? k.toUpperCase() : k }))),
      make("span", { textContent: what }),
    ]));
    $("help").showModal();
    $("help").scrollTop = 0; // the focus on Close scrolls to it
  }

  // Keys.
  function onKey(e) {
    if (!setup || !view || e.isComposing || e.altKey) return;
    if ($("help").open) {
      if (!e.ctrlKey && !e.metaKey && ["h", "?"].includes(e.key.toLowerCase())) { e.preventDefault(); $("help").close(); }
      return;
    }
    const inFilter = document.activeElement === $("filter");
    const text = inFilter ? $("filter").value : "";
    const done = () => e.preventDefault();
    const low = e.key.length === 1 ? e.key.toLowerCase() : e.key;
    if (document.activeElement === $("by-class") && !e.ctrlKey && !e.metaKey && e.key !== "Escape") return;
    if (document.activeElement === $("pick-filter") && !e.ctrlKey && !e.metaKey) { pickKey(e); return; }
    if (e.ctrlKey || e.metaKey) {
      if (low === "z" || low === "y") { done(); if (!e.repeat) step(low === "y" || e.shiftKey ? "redo" : "undo"); }
      return;
    }
    if (e.key === "Escape") {
      if (text) { done(); setFilter(""); } else if (inFilter) { $("filter").blur(); } else if (mode !== "one") { done(); setMode("one"); }
      return;
    }
    const onButton = document.activeElement instanceof HTMLButtonElement || document.activeElement.tagName === "SUMMARY";
    const arrows = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].includes(e.key);
    if (mode === "many" || mode === "list") {
      if (arrows) { done(); moveFocus(mode === "many" ? $("thumbs") : $("labelled"), e.key); return; }
      if (mode === "many" && e.key === "Enter" && !["other", "undo", "redo"].includes(document.activeElement.id) && !document.activeElement.closest("nav, .picks")) { done(); if (!e.repeat) confirmPage(); return; }
    } else {
      if (!text && view.question && lookKey(e)) { done(); return; }
      if ((e.key === "ArrowLeft" || e.key === "Backspace") && !text) { done(); if (!e.repeat) step("undo"); return; }
      if (e.key === "ArrowRight" && !text) { done(); if (!e.repeat) step("redo"); return; }
      if (arrows && !inFilter && document.activeElement.classList.contains("class")) {
        done();
        const all = shownClasses(), at = all.indexOf(document.activeElement);
        (all[at + (e.key === "ArrowUp" ? -1 : 1)] || all[at]).focus();
        return;
      }
      if (e.key === "Enter" && !(onButton && !inFilter)) {
        done();
        if (e.repeat) return;
        const first = $("classes").querySelector(".first:not([hidden])");
        if (typing && $("filter").value.trim()) { if (first) label("label", first.dataset.name); }
        else if (predicted) label("label", predicted.class);
        return;
      }
    }
    if (e.key === "Backspace" && !text) { done(); if (!e.repeat) step("undo"); return; }
    if (e.key === "Delete" && !text) { done(); if (!e.repeat) command("x"); return; }
    if (e.key === " " && !text && !(onButton && !inFilter)) { done(); if (!e.repeat) command("s"); return; }
    if (e.key.length !== 1) return;
    if (e.key === "?") { done(); if (!e.repeat) command("h"); return; }
    if (typing && e.key === "/" && mode === "one") { done(); $("filter").focus(); return; }
    const digit = /^(?:Digit|Numpad)([0-9])$/.exec(e.code);
    const key = digit ? digit[1] : low;
    const isNone = setup.none && key === "0" && digit && (e.shiftKey || noneKey === "0");
    if (isNone && mode === "one" && view.question) { done(); if (!e.repeat) label("none"); return; }
    if (isNone && mode === "many") {
      const b = document.activeElement.closest("#thumbs .thumb");
      if (b) { done(); mark(b, grid.items[b.dataset.at], noClass); offer(b); }
      return;
    }
    if (typing) {
      if (e.shiftKey && (reserved.includes(low) || setup.groups && low === "a" || setup.boxes && low === "b")) { done(); if (!e.repeat) command(low); return; }
      const thumb = mode === "many" && document.activeElement.closest("#thumbs .thumb");
      if (thumb && key.trim() && !e.shiftKey && !(digits && digit)) {
        if (picking !== thumb) { mark(thumb, grid.items[thumb.dataset.at], null); offer(thumb); }
        $("pick-filter").focus(); // the letter goes there
        return;
      }
      if (mode !== "one") { if (!e.shiftKey && reserved.includes(low)) { done(); if (!e.repeat) command(low); } return; }
      if (!view.question) { if (!e.repeat) { done(); command(low); } return; }
      if (digits && digit) {
        done();
        const b = shownClasses()[(+key + 9) % 10];
        if (b && !e.repeat) label("label", b.dataset.name);
        return;
      }
      if (!inFilter) { $("filter").focus(); $("filter").select(); } // the letter goes there
      return;
    }
    const at = keys.indexOf(key);
    if (at >= 0 && mode === "one" && view.question) { done(); if (!e.repeat) label("label", setup.classes[at]); return; }
    if (at >= 0 && mode === "many") {
      const b = document.activeElement.closest("#thumbs .thumb");
      if (b) { done(); mark(b, grid.items[b.dataset.at], setup.classes[at]); offer(b); }
      return;
    }
    if (!e.repeat && command(low)) done();
  }

  function command(key) {
    const end = mode === "one" && !view.question;
    switch (key) {
      case "s": if (end) { if (view.n.skipped) again_("skipped"); } else label("skip"); return true;
      case "u": if (end) { if (view.n.unsure) again_("unsure"); } else label("unsure"); return true;
      case "x":
        if (mode === "many") { const b = document.activeElement.closest("#thumbs .thumb"); if (b) b.click(); } else label("bad");
        return true;
      case "g": predict(); return true;
      case "h": help(); return true;
      case "m": if (mode !== "many") setMode("many"); return true;
      case "l": if (mode !== "list") setMode("list"); return true;
      case "n": otherClass(); return true;
      case "f": fullScreen(); return true;
      case "z": step("undo"); return true;
      case "a": wholeGroups(); return !!setup.groups;
      case "b": wholePicture(); return !!setup.boxes;
    }
    return false;
  }

  // After a click of the pointer the focus goes, so that Enter and Space keep their
  // meaning for whoever changes from the mouse to the keys.
  const release = e => { if (e.detail > 0 && e.currentTarget.contains(document.activeElement)) document.activeElement.blur(); };
  const on = (id, f) => $(id).addEventListener("click", e => { release(e); f(e); });

  document.addEventListener("keydown", onKey);
  on("undo", () => step("undo"));
  on("redo", () => step("redo"));
  on("to-one", () => setMode("one"));
  on("to-grid", () => setMode("many"));
  on("to-list", () => setMode("list"));
  on("to-help", help);
  on("whole", wholeGroups);
  on("confirm", confirmPage);
  on("other", otherClass);
  on("more", listMore);
  $("by-class").addEventListener("change", () => { listed = { ...listed, class: $("by-class").value, from: 0 }; showList(); });
  on("classes", e => { const b = e.target.closest("button"); if (b) b.id === "none" ? label("none") : label("label", b.dataset.name); });
  on("marks", e => {
    const b = e.target.closest("button");
    if (b) b.dataset.act === "prediction" ? predict() : label(b.dataset.act);
  });
  $("filter").addEventListener("input", filter);
  $("pick-filter").addEventListener("input", fillPicks);
  // The Enter that chose a class is no click on the thumbnail that has the focus after it.
  $("thumbs").addEventListener("keypress", e => { if (e.key === "Enter") e.preventDefault(); });
  addEventListener("pagehide", () => navigator.sendBeacon("leave", new Blob([JSON.stringify({ client })], { type: "application/json" })));
  // The server keeps what is on screen for a window that lives.
  const beat = () => {
    if (view) fetch("beat", { method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ client, id: mode !== "many" && view.question ? view.question.id : "" }) }).catch(() => {});
  };
  setInterval(beat, 20000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) beat(); });
  addEventListener("pageshow", e => { if (e.persisted) refresh(); });

  (async () => {
    try {
      setup = await call("setup");
      document.title = `${setup.title} · ledg label`;
      $("title").textContent = setup.title;
      buildClasses();
      $("domains").open = innerWidth > 760 && innerHeight > 760;
      view = await call("view?" + query({}));
      await show();
    } catch (e) { notice(e.message); }
    focus();
  })();
})();
