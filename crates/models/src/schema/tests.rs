use proptest::prelude::*;

use super::*;

#[test]
fn gemini_gets_its_subset() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": false,
        "properties": {
            "path": {"type": ["string", "null"], "format": "uri", "description": "Where."},
            "mode": {"const": "fast"},
            "level": {"type": "integer", "enum": [1, 2], "format": "int64"},
            "when": {"type": "string", "format": "date-time"},
            "list": {"type": "array"},
            "one": {"oneOf": [{"type": "string"}, {"type": "null"}]},
            "either": {"type": ["string", "integer"]},
            "node": {"$ref": "#/$defs/node"},
            "both": {"allOf": [{"$ref": "#/$defs/a"}, {"properties": {"y": {"type": "string"}}, "required": ["y"]}]},
            "any": true,
            "more": {"type": "number", "exclusiveMinimum": 0},
        },
        "required": ["path", "gone"],
        "$defs": {
            "a": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
            "node": {"type": "object", "properties": {"name": {"type": "string"}}},
        },
    });
    let expected = json!({
        "type": "object",
        "properties": {
            "path": {"nullable": true, "type": "string", "description": "Where."},
            "mode": {"type": "string", "enum": ["fast"]},
            "level": {"type": "integer", "format": "int64", "description": "one of 1, 2"},
            "when": {"type": "string", "format": "date-time"},
            "list": {"type": "array", "items": {"type": "string"}},
            "one": {"nullable": true, "type": "string"},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "node": {"type": "object", "properties": {"name": {"type": "string"}}},
            "both": {
                "type": "object",
                "properties": {"x": {"type": "string"}, "y": {"type": "string"}},
                "required": ["x", "y"],
            },
            "any": {"type": "string"},
            "more": {"type": "number", "description": "more than 0"},
        },
        "required": ["path"],
    });
    assert_eq!(gemini(&schema), expected);
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let tree = json!({
        "type": "object", "properties": {"child": {"$ref": "#"}, "other": {"$ref": "#/$defs/gone"}},
    });
    let text = gemini(&tree).to_string();
    assert!(!text.contains("$ref") && text.len() < 10_000, "{text}");
}

#[test]
fn arguments_are_always_an_object() {
    let usual = json!({"type": "object", "properties": {"a": {"anyOf": [{}]}}});
    assert_eq!(arguments(&usual), usual);
    assert_eq!(arguments(&json!(true)), json!({"type": "object", "properties": {}}));
    let choice = json!({"anyOf": [{"required": ["a"]}], "properties": {"a": {"type": "string"}}});
    assert_eq!(arguments(&choice), json!({"properties": {"a": {"type": "string"}}, "type": "object"}));
}

#[test]
fn closed_and_strict_schemas() {
    let open = json!({"type": "object", "properties": {"minimum": {"type": "integer", "minimum": 1}}});
    assert!(!is_strict(&open));
    let shut = closed(&open);
    assert_eq!(
        shut,
        json!({"type": "object", "properties": {"minimum": {"type": "integer"}}, "additionalProperties": false})
    );
    assert!(!is_strict(&shut));
    let strict = json!({
        "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false,
    });
    assert!(is_strict(&strict));
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string", "format": "uri"})),
        Just(json!({"type": ["integer", "null"], "enum": [1, null]})),
        Just(json!({"const": 3})),
        Just(json!({"$ref": "#/properties/a"})),
        Just(json!({"$ref": "nowhere"})),
        Just(json!({"type": 5, "required": "x", "items": 3, "properties": []})),
        Just(json!(null)),
    ];
    leaf.prop_recursive(4, 32, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..3).prop_map(|parts| json!({"anyOf": parts})),
            proptest::collection::vec(inner.clone(), 1..3).prop_map(|parts| json!({"allOf": parts})),
            inner.clone().prop_map(|items| json!({"type": ["array", "object"], "items": items})),
            (inner.clone(), inner)
                .prop_map(|(a, b)| json!({"type": "object", "properties": {"a": a, "b": b}})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_schema_becomes_one_that_gemini_knows(schema in schema()) {
        let text = gemini(&schema).to_string();
        for refused in ["\"$ref\"", "\"const\"", "\"allOf\"", "\"oneOf\"", "\"additionalProperties\"", "\"uri\""] {
            prop_assert!(!text.contains(refused), "{}", text);
        }
        arguments(&schema);
        closed(&schema);
        is_strict(&schema);
    }
}
