TEST_CASE("ring buffer wraps", "[ring]") {
    SECTION("at its (real) end") { check(1); }
}
TEST_CASE_TEMPLATE("any::type", T, int, char) { }
TEST_F(RingTest, Wraps) { }
BOOST_AUTO_TEST_CASE(sorts)
{
}
