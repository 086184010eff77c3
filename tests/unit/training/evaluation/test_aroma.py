"""Features of simplified Java syntax trees, compared with hand-computed ones, and their similarity."""

from __future__ import annotations

from training.evaluation.aroma import LOCAL, features, similarity

HIDE = """
View view = this.getCurrentFocus();
if (view != null) {
    InputMethodManager manager = (InputMethodManager) getSystemService(Context.INPUT_METHOD_SERVICE);
    manager.hideSoftInputFromWindow(view.getWindowToken(), 0);
}
"""
HIDE_IN_A_METHOD = """
public void closeKeyboard(Activity activity) {
    View focused = activity.getCurrentFocus();
    if (focused != null) {
        InputMethodManager imm = (InputMethodManager) activity.getSystemService(Context.INPUT_METHOD_SERVICE);
        imm.hideSoftInputFromWindow(focused.getWindowToken(), 0);
    }
}
"""
SHOW_A_TOAST = """
void say(Context context, String text) {
    Toast.makeText(context, text, Toast.LENGTH_SHORT).show();
}
"""


def test_features_of_a_statement_equal_hand_computed_ones():
    found = features("int n = f(1);")
    tokens = {key[0]: count for key, count in found.items() if len(key) == 1}
    assert tokens == {LOCAL: 1, "f": 1, "1": 1}
    assert [key[1:] for key in found if key[0] == "next"] == [(LOCAL, "f"), ("f", "1")]
    # `n` is the first child of `# = #`, the second child of `int # ;`, whose label may have the keyword or `#`.
    assert found[LOCAL, "0", "0", "#=#"] == 1
    assert found[LOCAL, "1", "1", "##;"] + found[LOCAL, "1", "1", "int#;"] == 1
    assert found["1", "0", "1", "(#)"] == 1


def test_the_next_use_of_a_local_variable_is_a_feature_but_not_that_of_a_field():
    assert any(key[0] == "use" for key in features("int n = 1; n = 2;"))
    assert not any(key[0] == "use" for key in features("class A { int n = 1; void f() { n = 2; } }"))


def test_names_of_local_variables_do_not_matter_and_other_names_do():
    assert features("int n = f(1); g(n);") == features("int other = f(1); g(other);")
    assert features("int n = f(1); g(n);") != features("int n = f(1); h(n);")


def test_comments_and_layout_do_not_matter():
    assert features("f(1);\n") == features("// Call it.\nf( /* once */\n   1 );")


def test_a_method_that_does_the_same_is_similar_and_another_is_not():
    wanted = features(HIDE)
    assert similarity(wanted, wanted) == 1.0
    assert similarity(wanted, features(HIDE_IN_A_METHOD)) > 0.6
    assert similarity(wanted, features(SHOW_A_TOAST)) < 0.25


def test_similarity_is_the_share_of_the_wanted_features():
    part, whole = features("f(1);"), features("f(1); g(2); h(3);")
    assert similarity(part, whole) > 2 * similarity(whole, part)


def test_empty_code_is_similar_to_nothing():
    assert similarity(features(""), features(HIDE)) == 0.0


def test_deep_nesting_is_cut_and_does_not_fail():
    assert features("int n = " + "(" * 5_000 + "1" + ")" * 5_000 + ";")[LOCAL,] == 1
