"""The difference of two independent estimates, with an interval from theirs."""

from math import hypot

Interval = tuple[float, float, float]


def difference(first: Interval, second: Interval) -> Interval:
    """Second minus first as (estimate, low, high), each given as (estimate, low, high).

    The distances of each estimate to its ends are added in quadrature (Zou and Donner 2008, "Construction of confidence
    intervals about effect measures", Statistics in Medicine 27): the interval has about the level of the two where they
    are independent, and a higher one where they are positively correlated.
    """
    (one, low, high), (other, least, most) = first, second
    gap = other - one
    return gap, gap - hypot(other - least, high - one), gap + hypot(most - other, one - low)
