"""Training on frozen features under natural shares: problems, selections and training of linear heads.

It follows ledg's preset on features (MaxHerding, FixMatch, SGD, cosine schedule by epoch). Several
variants train at once on the same batches, so that they are compared on equal draws.
"""
import json
import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
import numpy as np
from scipy.optimize import minimize



def softmax(z, axis=-1):
    e = np.exp(z - z.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def load(path):
    """Features of `ledg embed` as (views [V, N, D] float32 after root, classes [N], domains [N])."""
    with open(path, "rb") as f:
        n = int.from_bytes(f.read(8), "little")
        header = json.loads(f.read(n))
        data = f.read()

    def read(name, dtype):
        a, b = header[name]["data_offsets"]
        return np.frombuffer(data[a:b], dtype).reshape(header[name]["shape"])

    x = read("features", np.float16).astype(np.float32).transpose(1, 0, 2)
    return np.ascontiguousarray(np.sign(x) * np.sqrt(np.abs(x))), read("labels", np.int64), read("domains", np.int64)


class Problem:
    """One held-out domain with sources resampled to natural shares.

    Classes have a long tail (ratio 13) in random order; sites have sizes of ratio 28 in random order,
    and class shares drawn from Dirichlet(20 * shares). parts is the number of sites that each source
    domain is divided into. All target images are used, weighted to class shares of the same kind.
    """

    def __init__(self, x, y, dom, target, parts, seed, ratio=13, spread=28):
        r = np.random.default_rng([seed, target, parts])
        classes = y.max() + 1
        shares = ratio ** -(np.arange(classes) / (classes - 1))
        shares = r.permutation(shares / shares.sum())
        sources = [d for d in range(dom.max() + 1) if d != target]
        k = parts * len(sources)
        size = r.permutation(spread ** -(np.arange(k) / (k - 1)))
        own = np.array([r.dirichlet(20 * shares) for _ in range(k)])
        want = size[:, None] * own  # [sites, classes], up to a factor
        have = np.array([[np.sum((dom == sources[s // parts]) & (y == c)) for c in range(classes)] for s in range(k)])
        # The largest factor at which at most 15% of the images are missing.
        for factor in np.geomspace(20000, 10, 200):
            per = [np.minimum(factor * want[d * parts:(d + 1) * parts].sum(0), have[d * parts]).sum() for d in range(len(sources))]
            if sum(per) >= 0.85 * factor * want.sum():
                break
        pool, site = [], []
        for d, s0 in enumerate(sources):
            for c in range(classes):
                left = list(r.permutation(np.flatnonzero((dom == s0) & (y == c))))
                asked = factor * want[d * parts:(d + 1) * parts, c]
                cut = min(1, len(left) / max(asked.sum(), 1e-9))
                for j, a in enumerate(asked * cut):
                    for _ in range(int(a + r.random())):
                        if left:
                            pool.append(left.pop())
                            site.append(d * parts + j)
        pool, site = np.array(pool), np.array(site)
        keep = np.isin(site, [s for s in range(k) if np.sum(site == s) >= 4])
        pool, site = pool[keep], np.unique(site[keep], return_inverse=True)[1]
        self.classes, self.k, self.pool = classes, site.max() + 1, pool
        self.y, self.site = y[pool], site
        mean = x[0, pool].mean(0)
        scale = 1 / np.sqrt(((x[0, pool] - mean) ** 2).mean())
        self.x = (x[:, pool] - mean) * scale
        at = np.flatnonzero(dom == target)
        self.xt, self.yt = (x[0, at] - mean) * scale, y[at]
        goal = 0.95 * r.dirichlet(20 * shares) + 0.05 / classes
        count = np.bincount(self.yt, minlength=classes)
        self.wt = goal[self.yt] / count[self.yt]
        self.n = len(pool)
        self.sizes = np.bincount(site)
        self._kernel = None

    def kernel(self):
        if self._kernel is None:
            u = self.x[0] / np.linalg.norm(self.x[0], axis=1, keepdims=True)
            self._kernel = np.exp(2 * np.minimum(u @ u.T, 1) - 2)
        return self._kernel

    def score(self, w, b):
        """Accuracy and macro-F1 in percent, with target images weighted."""
        z = (self.xt @ w.T + b).argmax(1)
        hit = z == self.yt
        m = np.zeros((self.classes, self.classes))
        np.add.at(m, (self.yt, z), self.wt)
        f1 = 2 * np.diag(m) / np.maximum(m.sum(0) + m.sum(1), 1e-12)
        return 100 * (self.wt * hit).sum() / self.wt.sum(), 100 * f1.mean()


def herd(kernel, n, have=()):
    m = np.zeros(len(kernel), np.float32)
    for i in have:
        m = np.maximum(m, kernel[i])
    gain = np.maximum(kernel - m, 0).sum(1)
    picks = []
    for _ in range(n):
        gain[list(have) + picks] = -1
        i = int(gain.argmax())
        picks.append(i)
        new = np.maximum(m, kernel[i])
        at = np.flatnonzero(new > m)
        gain -= (np.maximum(kernel[:, at] - m[at], 0) - np.maximum(kernel[:, at] - new[at], 0)).sum(1)
        m = new
    return picks


def select(p, name, n, seed):
    """Labels of a selection; every site has at least one."""
    r = np.random.default_rng([7, seed])
    if name == "random":
        picks = list(r.choice(p.n, n, replace=False))
    elif name == "mh":
        picks = herd(p.kernel(), n)
    elif name == "half":  # the second half at random
        picks = herd(p.kernel(), n // 2)
        picks += list(r.choice(np.setdiff1d(np.arange(p.n), picks), n - n // 2, replace=False))
    elif name in ("mhprop", "mhsqrt"):  # by site, in proportion to its size or the root of it
        q = p.sizes ** (1.0 if name == "mhprop" else 0.5)
        q = q / q.sum() * n
        per = np.maximum(1, np.floor(q).astype(int))
        for s in np.argsort(-(q - np.floor(q))):
            if per.sum() < n:
                per[s] += 1
        picks = []
        for s in range(p.k):
            at = np.flatnonzero(p.site == s)
            picks += list(at[herd(p.kernel()[np.ix_(at, at)], min(per[s], len(at)))])
    for s in range(p.k):  # ledg's acquire.Cover
        count = np.bincount(p.site[picks], minlength=p.k)
        if count[s] == 0:
            most = count.argmax()
            last = max(i for i, a in enumerate(picks) if p.site[a] == most)
            at = np.flatnonzero(p.site == s)
            picks[last] = int(at[0] if name == "random" else at[herd(p.kernel()[np.ix_(at, at)], 1)[0]])
    return np.array(picks)


def cells(p, labels):
    """Weights of labels: pool images nearest to each, scaled to mean 1."""
    w = np.bincount(p.kernel()[labels].argmax(0), minlength=len(labels)).astype(float)
    return w / w.mean()


def logistic(x, y, k, c, weights=None, start=None, iterations=200):
    """min c * sum weighted CE + |W|^2 / 2; returns (W, b)."""
    n, d = x.shape
    w8 = np.ones(n) if weights is None else weights
    hot = np.eye(k)[y]

    def f(v):
        w, b = v[:k * d].reshape(k, d), v[k * d:]
        z = x @ w.T + b
        z -= z.max(1, keepdims=True)
        e = np.exp(z)
        s = e.sum(1)
        loss = (w8 * (np.log(s) - (z * hot).sum(1))).sum() / n + (w * w).sum() / (2 * c * n)
        g = (e / s[:, None] - hot) * w8[:, None] / n
        return loss, np.concatenate([(g.T @ x + w / (c * n)).ravel(), g.sum(0)])

    v = minimize(f, np.zeros(k * d + k) if start is None else start, jac=True, method="L-BFGS-B",
                 options={"maxiter": iterations, "maxcor": 20, "ftol": 1e-10, "gtol": 1e-6}).x
    return v[:k * d].reshape(k, d), v[k * d:], v


def rotate(x):
    """Rows in n columns if there are fewer rows than columns, and the way back for weights."""
    if len(x) >= x.shape[1]:
        return x.astype(float), lambda w: w
    u, s, vt = np.linalg.svd(x.astype(float), full_matrices=False)
    return u * s, lambda w: w @ vt


def probe(p, labels, cs=(1e-3, 1e-2, 1e-1, 1), folds=4, weights=None):
    """ledg's logistic regression: C by accuracy, then loss, on left-out sites, in at most four folds; returns (W, b, C)."""
    x, back = rotate(p.x[0, labels])
    y, site = p.y[labels], p.site[labels] % folds
    right, losses = np.zeros(len(cs)), np.zeros(len(cs))
    for s in np.unique(site):
        i, o = site != s, site == s
        known = np.isin(y[o], y[i])
        v = None
        for j, c in enumerate(cs):
            w, b, v = logistic(x[i], y[i], p.classes, c, None if weights is None else weights[i], v, 40)
            z = x[o] @ w.T + b
            q = softmax(z, 1)[np.arange(o.sum()), y[o]]
            right[j] += (z.argmax(1) == y[o]).mean()
            losses[j] += -np.log(np.maximum(q[known], 1e-300)).sum() / max(known.sum(), 1)
    best = max(range(len(cs)), key=lambda j: (round(right[j], 9), -losses[j]))
    w, b, _ = logistic(x, y, p.classes, cs[best], weights)
    return back(w), b, cs[best]


def passes(groups, per, steps, r):
    """Rows of steps batches: per rows of each group, in passes without replacement where it has as many."""
    out = np.empty((steps, len(groups), per), int)
    for g, at in enumerate(groups):
        if len(at) >= per:
            whole = len(at) // per
            rows = np.concatenate([r.permutation(at)[:whole * per] for _ in range(-(-steps // whole))])
            out[:, g] = rows[:steps * per].reshape(steps, per)
        else:
            out[:, g] = at[r.integers(len(at), size=(steps, per))]
    return out.reshape(steps, -1)


def log_shares(counts, prior=1.0):
    q = np.asarray(counts, float) + prior * np.sum(counts) / len(counts) * 0.1
    return np.log(q / q.sum())


def train(p, labels, variants, seed, sampler="site", per=8, epochs=20, steps=None, weights=None, mix=False, batch=24):
    """Trains all variants on the same batches; returns a list of (W, b, W of EMA, b of EMA).

    sampler: "site" (per images of every site, as the preset), "image" (as many in all, sites in
    proportion to their images) or "sqrt". A variant is a dict:
      lr (0.002), scale (the losses' factor; default the number of sites, a sum over sites as the preset),
      tau (0.95), sat (FreeMatch's thresholds), lu (weight of pseudo-labels), imp (power of the labels'
      weights), shift (lambda of the labelled logits' log pi_L - log pi_U), pool (log pi_U [C]),
      run (pi_U from the running mean of predictions), delta (CEG's MixUp), wd, both (labelled strong views),
      sup (CE on strong labelled views), start ((W, b), default PyTorch's uniform)
    """
    r = np.random.default_rng([11, seed])
    n_v, c, k = len(variants), p.classes, p.k
    rest = np.setdiff1d(np.arange(p.n), labels)
    fewest = min(np.sum(p.site[rest] == s) or p.n for s in range(k))
    total = per * k
    if sampler == "site":
        t_epoch = max(1, fewest // per)
        t = steps or epochs * t_epoch
        t_epoch = max(1, t // epochs)
        bl = passes([np.flatnonzero(p.site[labels] == s) for s in range(k)], per, t, r)
        bu = rest[passes([np.flatnonzero(p.site[rest] == s) if np.any(p.site[rest] == s) else np.arange(len(rest)) for s in range(k)], per, t, r)]
    else:
        total = batch
        t = steps or epochs * max(1, len(rest) // total)
        if sampler == "image":
            bl = passes([np.arange(len(labels))], total, t, r)
            bu = rest[passes([np.arange(len(rest))], total, t, r)]
        else:
            def draw(site):
                q = 1 / np.sqrt(np.bincount(site, minlength=k)[site])
                return r.choice(len(site), size=(t, total), p=q / q.sum())
            bl, bu = draw(p.site[labels]), rest[draw(p.site[rest])]

    def of(name, default):
        return np.array([v.get(name, default) for v in variants], np.float32)

    lr, wd, tau, lu, imp, shift = of("lr", 0.002), of("wd", 5e-4), of("tau", 0.95), of("lu", 1), of("imp", 0), of("shift", 0)
    scale, sat, run, delta, both, sup = of("scale", k), of("sat", 0) > 0, of("run", 0) > 0, of("delta", 0), of("both", 1), of("sup", 0)
    counts = np.bincount(p.y[labels], minlength=c)
    own = log_shares(counts)
    pool = np.array([v.get("pool", own) for v in variants])  # [R, C]
    w8 = np.ones(len(labels)) if weights is None else weights
    wl = np.array([w8 ** a / np.mean(w8 ** a) for a in imp])  # [R, labels]
    d = p.x.shape[2]
    w0 = r.uniform(-1, 1, (c, d + 1)) / np.sqrt(d)
    w, b = np.repeat(w0[None, :, :d], n_v, 0).astype(np.float32), np.repeat(w0[None, :, d], n_v, 0).astype(np.float32)
    for i, v in enumerate(variants):
        if "start" in v:
            w[i], b[i] = v["start"]
    vw, vb = np.zeros_like(w), np.zeros_like(b)
    ew, eb, keep = w.copy(), b.copy(), 0.99
    glob, cls = np.full(n_v, 1 / c), np.full((n_v, c), 1 / c)
    seen = np.full((n_v, c), 1 / c)
    eye = np.eye(c, dtype=np.float32)
    hot_l = eye[p.y[labels]]
    if mix:
        near = centroids(p, labels, rest)
    for s in range(t):
        li, ui = bl[s], bu[s]
        m = len(li)
        sl, su = 2 + r.integers(2, size=m), 2 + r.integers(2, size=m)
        parts = [p.x[1, labels[li]], p.x[sl, labels[li]], p.x[su, ui], p.x[1, ui]]
        done = s / t if sampler != "site" else (s // t_epoch * t_epoch) / t
        mixing = mix and done >= 1 / epochs
        if mixing:
            mx, mt = mixup(p, near, rest, done, total, r, eye, sampler)
            parts.insert(3, mx)
        a = np.concatenate(parts)
        z = (a @ w.reshape(-1, d).T).reshape(len(a), n_v, c) + b
        target_pool = np.where(run[:, None], np.log(np.maximum(seen, 1e-4)), pool)
        adj = (shift[:, None] * (own - target_pool)).astype(np.float32)
        zl = z[:m] + adj
        pl = softmax(zl, -1)
        g = np.zeros_like(z)
        weight = (wl[:, li].T / m).astype(np.float32)  # [m, R]
        g[:m] = (pl - hot_l[li][:, None]) * weight[..., None]
        zw = z[-m:]
        pu = softmax(zw, -1)
        if sat.any():
            glob = 0.99 * glob + 0.01 * pu.max(-1).mean(0)
            cls = 0.99 * cls + 0.01 * pu.mean(0)
        if run.any():
            seen = 0.98 * seen + 0.02 * pu.mean(0)
        limit = np.where(sat[:, None], glob[:, None] * cls / cls.max(1, keepdims=True), tau[:, None])  # [R, C]

        def pseudo(q):
            top = q.argmax(-1)
            return top, q.max(-1) >= np.take_along_axis(np.broadcast_to(limit, q.shape), top[..., None], -1)[..., 0]

        top, sure = pseudo(pu)
        g[2 * m:3 * m] = (softmax(z[2 * m:3 * m], -1) - eye[top]) * (sure * (lu / m))[..., None]
        top, sure = pseudo(softmax(z[:m], -1))
        goal = np.where(sup[:, None] > 0, hot_l[li][:, None], eye[top])
        sure = np.where(sup > 0, 1.0, sure)
        g[m:2 * m] = (softmax(z[m:2 * m], -1) - goal) * (sure * (both / m))[..., None]
        g *= scale[:, None]
        if mixing:
            q = softmax(z[3 * m:-m], -1)
            g[3 * m:-m] = (q - mt[:, None]) * mixweight(p, len(mx), total, scale, delta, sampler)
        used = g[:-m].reshape(len(a) - m, -1).astype(np.float32)
        gw = (used.T @ a[:-m]).reshape(w.shape)
        gb = g[:-m].sum(0)
        rate = lr * (1 + np.cos(np.pi * (int(done * epochs + 1e-9) / epochs))) / 2
        vw *= 0.9
        vw += gw
        vw += (wd[:, None, None] * w).astype(np.float32)
        vb = 0.9 * vb + gb + wd[:, None] * b
        w -= (rate[:, None, None] * vw).astype(np.float32)
        b = (b - rate[:, None] * vb).astype(np.float32)
        if s > t // 4:
            ew += (1 - keep) * (w - ew)
            eb = eb + (1 - keep) * (b - eb)
        elif s == t // 4:
            ew, eb = w.copy(), b.copy()
    return [(w[i], b[i], ew[i], eb[i]) for i in range(n_v)]


def centroids(p, labels, rest):
    """Cosine of unlabelled images with (site, class) centroids, their classes and pseudo-labels."""
    f = np.concatenate([p.x[0], np.ones((p.n, 1), np.float32)], 1)
    f /= np.linalg.norm(f, axis=1, keepdims=True)
    cell = p.site[labels] * p.classes + p.y[labels]
    live = np.unique(cell)
    mu = np.array([f[labels[cell == v]].mean(0) for v in live])
    # Squared distances up to a constant of the image.
    dist = (mu ** 2).sum(1) - 2 * f[rest] @ mu.T
    return {"order": dist.argsort(0), "label": (live % p.classes)[dist.argmin(1)], "live": len(live), "cells": p.k * p.classes, "cache": {}}


def mixup(p, near, rest, done, total, r, eye, sampler):
    epoch = int(done * 20 + 1e-9)
    if epoch not in near["cache"]:
        count = int((0.25 + 0.25 * done) * p.n)
        div = max(near["live"] - (near["cells"] - near["live"]), 1)
        per = min(-(-3 * count // (2 * div)), len(rest))
        union = np.unique(near["order"][:per])
        near["cache"] = {epoch: r.permutation(union)[:count]}
    rel = near["cache"][epoch]
    if sampler != "site":  # reliable images in proportion to their number, partners of any site
        rows = rel[r.integers(len(rel), size=2 * total)]
        x = p.x[2 + r.integers(2, size=total), rest[rows[:total]]]
        x2 = p.x[2 + r.integers(2, size=total), rest[rows[total:]]]
        t = eye[near["label"][rows]]
        lam = r.beta(0.2, 0.2, total)[:, None]
        return (lam * x + (1 - lam) * x2).astype(np.float32), lam * t[:total] + (1 - lam) * t[total:]
    per = max(2, total // p.k)
    site = p.site[rest[rel]]
    rows = np.concatenate([(lambda at: at[r.integers(len(at), size=per)] if len(at) < per else r.permutation(at)[:per])(
        np.flatnonzero(site == s) if np.any(site == s) else np.arange(len(rel))) for s in range(p.k)])
    rows = rel[rows]
    x = p.x[2 + r.integers(2, size=len(rows)), rest[rows]]
    t = eye[near["label"][rows]]
    lam = np.repeat(r.beta(0.2, 0.2, p.k), per)[:, None]
    partner = np.concatenate([s * per + r.permutation(per) for s in range(p.k)])
    xs, ts = [lam * x + (1 - lam) * x[partner]], [lam * t + (1 - lam) * t[partner]]
    pairs = [(i, j) for i in range(p.k) for j in range(i + 1, p.k)]
    pick = pairs if p.k <= 4 else [pairs[i] for i in r.choice(len(pairs), p.k, replace=False)]
    for i, j in pick:
        lam = r.beta(0.2, 0.2)
        xs.append(lam * x[i * per:(i + 1) * per] + (1 - lam) * x[j * per:(j + 1) * per])
        ts.append(lam * t[i * per:(i + 1) * per] + (1 - lam) * t[j * per:(j + 1) * per])
    return np.concatenate(xs).astype(np.float32), np.concatenate(ts)


def mixweight(p, rows, total, scale, delta, sampler):
    """Weights [rows, R, 1]: sums over sites and over pairs of means, halves each."""
    if sampler != "site":
        return np.repeat((delta * scale / rows)[None], rows, 0)[..., None]
    per = max(2, total // p.k)
    intra = p.k * per
    pairs = p.k * (p.k - 1) / 2
    first = 0.5 * scale / intra
    second = 0.5 * scale / p.k * pairs / max(rows - intra, 1)
    out = np.concatenate([np.repeat((delta * first)[None], intra, 0), np.repeat((delta * second)[None], rows - intra, 0)])
    return out[..., None]
