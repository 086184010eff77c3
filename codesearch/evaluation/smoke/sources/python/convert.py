"""Conversions between units, notations and shapes."""

import re
from types import SimpleNamespace

_ROMAN = [
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
]


def celsius_to_fahrenheit(degrees):
    """Return a temperature given in Celsius on the Fahrenheit scale."""
    if degrees < -273.15:
        raise ValueError("below absolute zero")
    return degrees * 9 / 5 + 32


def fahrenheit_to_celsius(degrees):
    celsius = (degrees - 32) / 1.8
    if celsius < -273.15:
        raise ValueError("colder than absolute zero")
    return round(celsius, 4)


def int_to_roman(number):
    """Write a positive integer in Roman numerals."""
    if not 0 < number < 4000:
        raise ValueError(f"no Roman numeral for {number}")
    digits = []
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        digits.append(letters * count)
    return "".join(digits)


def roman_to_int(numeral):
    """Read a Roman numeral such as MCMXCIV and return its value."""
    values = {letter: value for value, letter in _ROMAN if len(letter) == 1}
    total = 0
    previous = 0
    for letter in reversed(numeral.upper()):
        value = values[letter]
        total += value if value >= previous else -value
        previous = max(previous, value)
    return total


def dec2bin(n, width=0):
    """Binary digits of n, padded with zeros on the left."""
    bits = ""
    while n:
        n, bit = divmod(n, 2)
        bits = str(bit) + bits
    return (bits or "0").zfill(width)


def bin2dec(bits):
    """Value of a text of zeros and ones."""
    value = 0
    for bit in bits:
        if bit not in "01":
            raise ValueError(f"not a bit: {bit!r}")
        value = value * 2 + int(bit)
    return value


def camel_to_snake(name):
    """Turn an identifier like parseHTTPHeader into parse_http_header."""
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    name = re.sub(r"([a-z\d])([A-Z])", r"\1_\2", name)
    return name.lower()


def snake_to_camel(name, upper_first=False):
    head, *tail = name.split("_")
    if upper_first:
        head = head.capitalize()
    return head + "".join(part.capitalize() for part in tail)


def flatten(nested, separator="."):
    """Bring nested dictionaries down to one level whose keys are joined by dots."""
    flat = {}
    for key, value in nested.items():
        if isinstance(value, dict) and value:
            for inner, leaf in flatten(value, separator).items():
                flat[f"{key}{separator}{inner}"] = leaf
        else:
            flat[str(key)] = value
    return flat


def unflatten(flat, separator="."):
    """Grow a tree of dictionaries from dotted keys."""
    tree = {}
    for path, value in flat.items():
        *parents, leaf = path.split(separator)
        node = tree
        for parent in parents:
            node = node.setdefault(parent, {})
        node[leaf] = value
    return tree


def object_to_dict(instance):
    """Collect the public attributes of an object, and of the objects inside it, as plain data."""
    if isinstance(instance, (list, tuple)):
        return [object_to_dict(element) for element in instance]
    if not hasattr(instance, "__dict__"):
        return instance
    return {key: object_to_dict(value) for key, value in vars(instance).items() if not key.startswith("_")}


def dict_to_object(mapping):
    """Make the keys of a dictionary reachable as attributes."""
    if isinstance(mapping, list):
        return [dict_to_object(element) for element in mapping]
    if not isinstance(mapping, dict):
        return mapping
    return SimpleNamespace(**{key: dict_to_object(value) for key, value in mapping.items()})
