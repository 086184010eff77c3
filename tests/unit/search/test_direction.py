"""The direction of a conversion."""

import pytest

from codesearch.search.direction import Conversion, agreement, parse_conversion

INT_TO_STRING = Conversion(("integer",), ("string",))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("convert int to string", ("integer", "string")),
        ("how to convert a string into a number", ("string", "integer")),
        ("date from string", ("string", "date")),
        ("converting json to xml", ("json", "xml")),
        ("str2int", ("string", "integer")),
        ("list of dicts to dataframe", ("list dictionary", "dataframe")),
        ("python convert from bytes to hex string", ("byte", "hex string")),
        ("how do i get celsius from fahrenheit", ("fahrenheit", "celsius")),
        ("convert big red word list to tree", ("red word list", "tree")),
    ],
)
def test_a_conversion_is_parsed_into_source_and_target(query, expected):
    source, target = (tuple(side.split()) for side in expected)
    assert parse_conversion(query) == Conversion(source, target)


@pytest.mark.parametrize(
    "query",
    [
        "sort a list",
        "how to read a file",
        "extract data from html content",
        "copy a folder to a remote host",
        "add an item to a list",
        "how to write array to file in php",
        "run command as root",
        "treat warnings as errors",
        "get the user name from a session",
        "string to string",
        "int to string in a loop",
        "to",
    ],
)
def test_other_queries_are_not_conversions(query):
    assert parse_conversion(query) is None


@pytest.mark.parametrize(
    ("name", "signature", "sign"),
    [
        ("int_to_string", "def int_to_string(x)", 1),
        ("itoa", "func itoa(i int) string", 1),
        ("string_from_int", "def string_from_int(value)", 1),
        ("toString", "public static String toString(int number)", 1),
        ("stringToInt", "function stringToInt(text)", -1),
        ("str2int", "def str2int(s)", -1),
        ("atoi", "public static int atoi(String s)", -1),
        ("parseInt", "int parseInt(String s)", -1),
        ("sort", "def sort(items)", 0),
        ("store", "def store(history)", 0),  # It only contains the letters of "to".
    ],
)
def test_a_function_agrees_if_its_direction_is_that_of_the_query(name, signature, sign):
    found = agreement(INT_TO_STRING, name, signature)
    assert (found > 0) - (found < 0) == sign


def test_a_name_with_one_side_agrees_half_as_much_as_one_with_both():
    names = ("int_to_string", "to_string", "from_int", "int_to_x", "to_int")
    assert [agreement(INT_TO_STRING, name, "") for name in names] == [1, 0.5, 0.5, 0.5, -0.5]


@pytest.mark.parametrize(
    ("query", "right", "wrong"),
    [
        (
            "LocalDateTime to Date",
            "Date asDate(LocalDateTime value)",
            "LocalDateTime asLocalDateTime(Date value)",
        ),
        ("celsius to fahrenheit", "func CToF(c Celsius) Fahrenheit", "func FToC(f Fahrenheit) Celsius"),
        ("ip address to integer", "func InetAton(ip net.IP) uint32", "func InetNtoa(n uint32) net.IP"),
        ("object to json", "String serialize(Object value)", "Object deserialize(String json)"),
        ("parse json into an array", "def parse_json(text)", "def dump_json(array)"),
        ("kebab-case to camelCase", "function camelize(word)", "function kebabize(word)"),
    ],
)
def test_opposite_conversions_with_the_same_words_are_distinguished(query, right, wrong):
    conversion = parse_conversion(query)
    found = [
        agreement(conversion, signature.partition("(")[0].split()[-1], signature)
        for signature in (right, wrong)
    ]
    assert found[0] > 0 > found[1]


@pytest.mark.parametrize(
    ("query", "right", "wrong"),
    [
        (
            "celsius to kelvin",
            ("Kelvin", "func (c Celsius) Kelvin() Kelvin"),
            ("Celsius", "func (k Kelvin) Celsius() Celsius"),
        ),
        ("convert bytes to text", ("as_text", "def as_text(data)"), ("as_bytes", "def as_bytes(text)")),
        ("camel case to underscore", ("underscore", "def underscore(word)"), ("f", "def f(underscore)")),
        ("km to miles", ("mi", "def mi(kilometres)"), ("f", "def f(miles) -> Kilometres")),
        ("pounds to kilograms", ("to_kg", "def to_kg(lbs)"), ("to_lbs", "def to_lbs(kg)")),
    ],
    ids="receiver encoded side units signs".split(),
)
def test_input_and_output_of_a_function_are_distinguished(query, right, wrong):
    conversion = parse_conversion(query)
    assert agreement(conversion, *right) > 0 > agreement(conversion, *wrong)
