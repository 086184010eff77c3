"""Each kind of node that declares something has a pattern in the query of its language, or a reason to have none."""

import re

import pytest

from codesearch.languages import load_grammar, query_source
from codesearch.languages.records import LANGUAGES, Language

DECLARING = re.compile(
    r"(?:_(?:alias|binding|constructor|decl|declaration|def|definition|export|family|instance|item|member|spec|"
    r"specification|synonym|variant)|^(?:alias|class|enum|function|given|instance|macro|method|module|struct))$"
)
LEFT_OUT = {
    "an import or an export defines nothing new": """
        export_declaration extern_crate_declaration foreign_export import_alias import_declaration
        import_or_export import_spec import_specification
        library_export module_export namespace_use_declaration package_declaration
        use_declaration using_declaration using_namespace_declaration""",
    "parameters, local names and bindings are no definitions of a file": """
        catch_declaration comprehension_binding constructor_synonym for_binding function_parameter_declaration
        function_static_declaration global_declaration implicit_variable_declaration initialized_variable_definition
        let_binding let_declaration local_variable_declaration optional_parameter_declaration
        optional_type_parameter_declaration parameter_declaration pattern_variable_declaration resource_specification
        short_var_declaration static_variable_declaration template_template_parameter_declaration
        type_parameter_declaration variadic_parameter_declaration variadic_type_parameter_declaration with_item""",
    "it is a part of a definition, or holds definitions that have patterns": """
        abstract_family data_instance exception_definition external_declaration implementation_definition
        local_function_declaration primary_constructor record_declaration
        representation_declaration type_binding type_constructor type_definition value_definition variable_declaration
        variant_declaration external_macro_definition module struct""",
    "it says something about a definition that is elsewhere": """
        atomic_declaration attribute_declaration class_declaration compatibility_alias_declaration
        conversion_specification
        deriving_instance friend_declaration inheritance_definition inheritance_specification inner_attribute_item
        operator_declaration precedence_group_declaration property_attributes_declaration protocol_forward_declaration
        static_assert_declaration type_instance visibility_specification""",
    "it names a file, or what no code of the file uses": """
        comptime_declaration kind_definition module_declaration namespace_definition""",
    "it is an expression, a statement or a type": """
        asm_input_item asm_output_item capture_list_item case_item expression_item tuple_type_item
        type_spec""",
    "an interface of OCaml has none": "instance_variable_definition method_definition",
}
KINDS_LEFT_OUT = {kind for kinds in LEFT_OUT.values() for kind in kinds.split()}
PARSED = [spec for spec in LANGUAGES if not spec.query]


def without_pattern(spec: Language) -> set[str]:
    """Return the declaring kinds of a grammar that its query does not have."""
    grammar = load_grammar(spec)
    ids = range(grammar.node_kind_count)
    kinds = {grammar.node_kind_for_id(one) or "" for one in ids if grammar.node_kind_is_named(one)}
    visible = {kind for kind in kinds if not kind.startswith("_")}
    return set(filter(DECLARING.search, visible)) - set(re.findall(r"\w+", query_source(spec.name)))


@pytest.mark.parametrize("spec", PARSED, ids=[spec.name for spec in PARSED])
def test_a_kind_of_node_that_declares_something_has_a_pattern_or_a_reason(spec):
    missing = without_pattern(spec) - KINDS_LEFT_OUT
    assert not missing, f"write a pattern in {spec.name}.scm for each, or name it in LEFT_OUT with the reason"


def test_each_reason_is_still_needed():
    assert KINDS_LEFT_OUT - set().union(*map(without_pattern, PARSED)) == set()
