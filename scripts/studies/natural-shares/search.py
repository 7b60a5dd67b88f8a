"""Searches for recipes under natural shares; appends a row a recipe to a CSV file.

    search.py ROUND OUT.csv emoji,pacs,glyphs PARTS RESAMPLINGS BUDGETS SELECTIONS

SET.safetensors are files of `ledg embed --views 4` in the working folder. Rounds 1 to 3 are those of README.md.
Columns: set, target, parts, resampling, budget, selection, recipe, accuracy, macro-F1, pool, sites.
"""
import csv
import sys

from harness import *


def first(p, labels, w, b, c, r, rec):
    """One variant of everything: losses, thresholds, shares, batches."""
    own = log_shares(np.bincount(p.y[labels], minlength=p.classes))
    true = log_shares(np.bincount(p.y, minlength=p.classes))
    rec("logistic shift true", p.score(w, b + true - own))
    x, back = rotate(p.x[0, labels])
    wi, bi, _ = logistic(x, p.y[labels], p.classes, c, cells(p, labels), None, 60)
    rec("logistic imp1", p.score(back(wi), bi))
    site = {"fixmatch": {}, "ce both": {"lu": 0, "sup": 1}, "ceg": {"delta": 0.3}}
    image = {"fixmatch": {}, "scale1": {"scale": 1}, "ce both": {"lu": 0, "sup": 1}, "sat": {"sat": 1}, "imp1": {"imp": 1},
             "shift true": {"shift": 1, "pool": true}, "shift run": {"shift": 1, "run": 1}, "tau.8": {"tau": 0.8}, "ceg": {"delta": 0.3},
             "sup": {"sup": 1}, "sup ceg": {"sup": 1, "delta": 0.3}, "sup tau.8": {"sup": 1, "tau": 0.8}, "sup lu.3": {"sup": 1, "lu": 0.3}}
    root = {"fixmatch": {}, "sup": {"sup": 1}}
    run("site ", site, p, labels, r, rec, sampler="site", steps=140, mix=True)
    run("image ", image, p, labels, r, rec, 3, sampler="image", steps=300, mix=True)
    run("sqrt ", root, p, labels, r, rec, 3, sampler="sqrt", steps=300)


def second(p, labels, w, b, c, r, rec):
    """Around FixMatch on batches of images: rates, steps, starts, averages."""
    image = {"fixmatch": {}, "scale6": {"scale": 6}, "scale10": {"scale": 10}, "imp.5": {"imp": 0.5}, "imp1": {"imp": 1}, "tau.9": {"tau": 0.9},
             "tau.7": {"tau": 0.7}, "lu2": {"lu": 2}, "wd.02": {"wd": 0.02}, "warm": {"start": (w, b)}, "warm2": {"start": (2 * w, 2 * b)},
             "warm scale1": {"start": (w, b), "scale": 1}}
    few = {"fixmatch": {}, "imp1": {"imp": 1}, "tau.8": {"tau": 0.8}}
    base = run("image ", image, p, labels, r, rec, 3, sampler="image", steps=300)[0]
    for a in (0.5, 1, 2):
        rec("mean with logistic %g" % a, mean(p, base, w, b, a))
    long = run("image900 ", few, p, labels, r + 1000, rec, 3, sampler="image", steps=900)[0]
    wide = run("image batch96 ", few, p, labels, r + 3000, rec, 3, sampler="image", steps=300, batch=96)[0]
    rec("image three seeds", p.score(base[0] + long[0] + wide[0], base[1] + long[1] + wide[1]))


def third(p, labels, w, b, c, r, rec, full=True):
    """The candidates that were left; go is as ledg trains: 20 epochs of batches of 8 images a site."""
    s = {"start": (w, b)}
    image = {"fixmatch": {}, "warm": s}
    if full:
        run("site ", {"fixmatch": {}, "ceg": {"delta": 0.3}, "warm": s}, p, labels, r, rec, sampler="site", steps=140, mix=True)
        image |= {"warm imp1": dict(s, imp=1), "warm lu2": dict(s, lu=2), "warm tau.9": dict(s, tau=0.9), "warm scale1": dict(s, scale=1),
                  "warm ce both": dict(s, lu=0, sup=1), "ceg": {"delta": 0.3}, "warm ceg": dict(s, delta=0.3)}
    out = run("image ", image, p, labels, r, rec, 3, sampler="image", steps=300, mix=full)
    for name, o in zip(image, out):
        if name in ("warm", "warm ceg", "warm lu2"):
            for a in (0.5, 1, 2):
                rec("image %s wise %g" % (name, a), p.score(o[0] + a * w, o[1] + a * b))
    rec("image mean with logistic 1", mean(p, out[0], w, b, 1))
    o = run("go ", {"fixmatch": {}, "warm": s}, p, labels, r + 5000, rec, 3, sampler="image", batch=8 * p.k)[1]
    rec("go warm wise 1", p.score(o[0] + w, o[1] + b))


def run(prefix, variants, p, labels, seed, rec, scale=None, **how):
    """Trains variants and records them."""
    list_ = [dict({} if scale is None else {"scale": scale}, **v) for v in variants.values()]
    per = 8 if p.k <= 4 or how["sampler"] != "site" else 4
    out = train(p, labels, list_, seed, weights=cells(p, labels), per=per, **how)
    for name, o in zip(variants, out):
        rec(prefix + name, p.score(*o[:2]))
    return out


def mean(p, o, w, b, a):
    """Score of the sum with a times the logistic head, logits on one scale."""
    s = a * np.std(p.x[0] @ o[0].T + o[1]) / np.std(p.x[0] @ w.T + b)
    return p.score(o[0] + s * w, o[1] + s * b)


def main(which, out, sets, *lists):
    parts, resamplings, budgets = [[int(v) for v in text.split(",")] for text in lists[:3]]
    data = {d: load(d + ".safetensors") for d in sets.split(",")}
    with open(out, "a", newline="") as f:
        rows = csv.writer(f)
        for r in resamplings:
            for budget in budgets:
                for target in range(4):
                    for d in data:
                        for k in parts:
                            p = Problem(*data[d], target, k, r)
                            if budget > 0.45 * p.n:
                                continue
                            for sel in lists[3].split(","):
                                labels = select(p, sel, budget, r)

                                def rec(name, s):
                                    rows.writerow([d, target, k, r, budget, sel, name, "%.3f" % s[0], "%.3f" % s[1], p.n, p.k])

                                w, b, c = probe(p, labels)
                                rec("logistic", p.score(w, b))
                                if which == "3":
                                    third(p, labels, w, b, c, r, rec, sel in ("mh", "random"))
                                else:
                                    (first if which == "1" else second)(p, labels, w, b, c, r, rec)
                                f.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
