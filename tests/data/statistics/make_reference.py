#!/usr/bin/env python3
"""Prints scipy.json: what SciPy makes of the samples in samples.json, and TOST powers by its quadrature.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install scipy==1.17.1
    /tmp/venv/bin/python make_reference.py > scipy.json
"""
import json
import math
import pathlib

import scipy
from scipy import integrate, stats

here = pathlib.Path(__file__).parent
samples = json.loads((here / "samples.json").read_text())


def tost(difference, error, df, margin):
    lower = stats.t.sf((difference + margin) / error, df)
    upper = stats.t.cdf((difference - margin) / error, df)
    half = stats.t.ppf(0.95, df) * error
    return {
        "difference": difference, "standard_error": error, "df": df, "margin": margin,
        "p_lower": lower, "p_upper": upper, "p_difference": 2 * stats.t.sf(abs(difference) / error, df),
        "interval_90": [difference - half, difference + half],
    }


def paired(sample):
    d = [a - b for a, b in zip(sample["migrated"], sample["baseline"])]
    n = len(d)
    found = stats.ttest_rel(sample["migrated"], sample["baseline"])
    result = tost(sum(d) / n, stats.sem(d), n - 1, sample["margin"])
    assert math.isclose(found.pvalue, result["p_difference"], rel_tol=1e-9)
    return result


def welch(sample):
    a, b = sample["migrated"], sample["baseline"]
    found = stats.ttest_ind(a, b, equal_var=False)
    error = math.hypot(stats.sem(a), stats.sem(b))
    result = tost(sum(a) / len(a) - sum(b) / len(b), error, float(found.df), sample["margin"])
    assert math.isclose(found.pvalue, result["p_difference"], rel_tol=1e-9)
    return result


def power(difference, error, df, margin, alpha):
    """Of two one-sided tests: over the scaled chi distribution of the estimated error (Phillips 1990)."""
    t = stats.t.ppf(1 - alpha, df)

    def integrand(u):
        inside = stats.norm.cdf((margin - difference) / error - t * u) - stats.norm.cdf(
            (-margin - difference) / error + t * u)
        return inside * stats.chi.pdf(u * math.sqrt(df), df) * math.sqrt(df)

    return integrate.quad(integrand, 0, margin / (t * error), epsabs=1e-13, epsrel=1e-11, limit=500,
                          points=[min(1.0, 0.999 * margin / (t * error))])[0]


powers = [dict(zip(("difference", "standard_error", "df", "margin", "alpha"), row), power=power(*row))
          for row in [(0, 0.3, 9, 1, 0.05), (0, 0.5, 4, 1, 0.05), (0.5, 0.3, 9, 1, 0.05), (1, 0.3, 9, 1, 0.05),
                      (0, 0.05, 1, 1, 0.05), (0.2, 0.1, 199, 0.5, 0.01), (0, 0.34, 100000, 1, 0.05),
                      (0, 0.9, 5, 1, 0.1), (-0.3, 0.2, 14.7, 0.8, 0.025)]]
quantiles = [{"p": p, "df": df, "t": stats.t.ppf(p, df)}
             for p in (0.6, 0.9, 0.95, 0.975, 0.999999) for df in (1, 2.5, 7, 30, 1e4)]
print(json.dumps({
    "command": "make_reference.py", "scipy": scipy.__version__,
    "paired": {name: paired(s) for name, s in samples.items() if len(s["migrated"]) == len(s["baseline"])},
    "welch": {name: welch(s) for name, s in samples.items()},
    "power": powers, "student_t": quantiles,
}, indent=1))
