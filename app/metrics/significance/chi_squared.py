"""The tail of a χ² distribution, without what importing scipy.special costs a service."""

from math import erfc, exp, lgamma, log, sqrt


def chi_squared_tail(value: float, freedom: int) -> float:
    """How likely a χ² variable of so many degrees of freedom is to be above the value.

    The closed forms for whole degrees: Σ h^i e^−h / i! over i < freedom / 2 for even ones, and
    erfc(√h) with a sum of half-integer powers for odd ones, h being half of the value.

    >>> round(chi_squared_tail(3.841459, 1), 6), round(chi_squared_tail(5.991465, 2), 6)
    (0.05, 0.05)
    """
    half = value / 2
    if half <= 0:
        return 1.0
    powers = [i + (freedom % 2) / 2 for i in range(freedom // 2)]
    tail = sum(exp(power * log(half) - half - lgamma(power + 1)) for power in powers)
    return min(1.0, tail + (erfc(sqrt(half)) if freedom % 2 else 0.0))
