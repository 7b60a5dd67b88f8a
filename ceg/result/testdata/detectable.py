from scipy.optimize import brentq
from scipy.stats import nct, t

for n in (3, 4, 5, 10, 20, 50):
    critical = t.ppf(0.975, n - 1)
    errors = brentq(lambda d: nct.sf(critical, n - 1, d) + nct.cdf(-critical, n - 1, d) - 0.8, 2, 6, xtol=1e-13)
    print(n, errors / n**0.5)
