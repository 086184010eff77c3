"""Numbers: statistics, primes, time spans."""

import calendar
import math
import re
from datetime import datetime, timedelta, timezone


def moving_average(values, window):
    """Smooth a series by the mean of each run of `window` values."""
    if window > len(values):
        return []
    total = sum(values[:window])
    means = [total / window]
    for new, old in zip(values[window:], values):
        total += new - old
        means.append(total / window)
    return means


def standard_deviation(values):
    """Spread of a sample around its mean, with Bessel's correction."""
    mean = sum(values) / len(values)
    squares = sum((value - mean) ** 2 for value in values)
    return math.sqrt(squares / (len(values) - 1))


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def fit_line(xs, ys):
    """Least squares: slope and intercept of the line nearest to the points."""
    n = len(xs)
    mean_x, mean_y = sum(xs) / n, sum(ys) / n
    covariance = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys))
    variance = sum((x - mean_x) ** 2 for x in xs)
    slope = covariance / variance
    return slope, mean_y - slope * mean_x


def primes_below(limit):
    """Sieve of Eratosthenes."""
    is_prime = bytearray([1]) * limit
    is_prime[:2] = b"\0\0"
    for n in range(2, math.isqrt(limit - 1) + 1):
        if is_prime[n]:
            is_prime[n * n :: n] = bytes(len(range(n * n, limit, n)))
    return [n for n, flag in enumerate(is_prime) if flag]


def matmul(a, b):
    """Product of two matrices given as lists of rows."""
    if len(a[0]) != len(b):
        raise ValueError("inner dimensions differ")
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def parse_duration(text):
    """Read a time span such as 1h30m or 45s and return seconds."""
    units = {"d": 86400, "h": 3600, "m": 60, "s": 1}
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([dhms])", text.lower())
    if not parts:
        raise ValueError(f"no time span: {text!r}")
    return sum(float(amount) * units[unit] for amount, unit in parts)


def format_duration(seconds):
    """Write a number of seconds as hours, minutes and seconds."""
    minutes, secs = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02d}m{secs:02d}s"
    return f"{minutes}m{secs:02d}s" if minutes else f"{secs}s"


def epoch_to_iso(seconds):
    """Convert Unix time to an ISO 8601 date and time in UTC."""
    moment = datetime.fromtimestamp(seconds, tz=timezone.utc)
    text = moment.isoformat(timespec="seconds")
    return text.replace("+00:00", "Z")


def iso_to_epoch(text):
    """Convert an ISO 8601 date and time to seconds since 1970."""
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return moment.timestamp()


def working_days(first, last):
    """Count the days from Monday to Friday between two dates, both included."""
    day, count = first, 0
    while day <= last:
        if day.weekday() < 5:
            count += 1
        day += timedelta(days=1)
    return count


def last_day_of_month(day):
    _, length = calendar.monthrange(day.year, day.month)
    return day.replace(day=length)
