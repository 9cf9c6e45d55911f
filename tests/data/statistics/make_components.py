#!/usr/bin/env python3
"""Prints components.json: losses of runs with known parts of seed, site and rest; sites are shares of epochs.

    python3 make_components.py > components.json
"""
import json
import random

random.seed(20261201)
sites = [random.gauss(0, 0.3) for _ in range(4)]
value, cell, seed, shares = [], [], [], []
for pair in range(20):
    luck = random.gauss(0, 0.2)
    for migrated in (False, True):
        visits = [random.randrange(4) for _ in range(6)] if migrated else [1] * 6
        share = [visits.count(s) / 6 for s in range(4)]
        value.append(round(2 + 0.5 * (pair % 2) + luck + sum(w * s for w, s in zip(share, sites))
                           + random.gauss(0, 0.05), 6))
        cell.append(pair % 2)
        seed.append(pair)
        shares.append(share)
print(json.dumps({"command": "make_components.py", "value": value, "cell": cell, "seed": seed, "shares": shares}))
