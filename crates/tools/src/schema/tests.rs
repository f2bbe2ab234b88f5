use serde_json::json;

use super::{check, is_untidy, tidy};

#[test]
fn a_misfit_names_the_exact_place() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "edits": {"type": "array", "minItems": 1, "items": {
                "type": "object",
                "properties": {"old": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
                "required": ["old"],
                "additionalProperties": false
            }},
            "mode": {"enum": ["a", "b"]},
            "paths": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
        },
        "required": ["path"],
        "additionalProperties": false
    });
    let error = |value| check(&schema, &value).unwrap_err().to_string();
    assert_eq!(error(json!({})), "arguments: `path` is missing");
    assert_eq!(error(json!([])), "arguments: must be object, not array");
    assert_eq!(error(json!({"path": ""})), "`path`: is empty");
    assert_eq!(error(json!({"path": "a", "edits": []})), "`edits`: needs at least 1 items, has 0");
    assert_eq!(
        error(json!({"path": "a", "edits": [{"old": 1}]})),
        "`edits[0].old`: must be string, not number"
    );
    assert_eq!(
        error(json!({"path": "a", "edits": [{"old": "", "count": 0}]})),
        "`edits[0].count`: must be at least 1"
    );
    assert_eq!(error(json!({"path": "a", "mode": "c"})), "`mode`: must be one of \"a\", \"b\"");
    assert_eq!(error(json!({"path": "a", "paths": 3})), "`paths`: must be string, not number");
    assert!(
        error(json!({"path": "a", "pth": "b"})).contains("`pth` is not an argument; there are: path, edits")
    );
    check(&schema, &json!({"path": "a", "paths": ["x"], "edits": [{"old": "x", "count": 2.0}]})).unwrap();
}

#[test]
fn references_are_followed_and_loops_end() {
    let schema = json!({"$ref": "#/$defs/node", "$defs": {"node": {
        "type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}
    }}});
    check(&schema, &json!({"next": {"next": {}}})).unwrap();
    assert!(check(&schema, &json!({"next": 1})).is_err());
    let endless = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}});
    assert!(check(&endless, &json!(1)).is_err());
}

#[test]
fn what_a_model_means_is_spelled_as_the_schema_has_it() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": ["string", "array"], "items": {"type": "string"}},
            "limit": {"type": "integer", "minimum": 1},
            "share": {"type": "number"},
            "none": {"type": ["string", "null"]},
            "edits": {"type": "array", "items": {"type": "object", "properties": {"at": {"type": "integer"}}}}
        },
        "required": ["path"]
    });
    let mut told = json!({
        "path": null, "limit": 20.0, "share": 2.0, "none": null, "other": null, "edits": [{"at": 3.0}, {"at": null}]
    });
    assert!(is_untidy(&told));
    tidy(&schema, &mut told);
    // What is required, allowed or not known is left for the check to judge.
    let meant = json!({
        "path": null, "limit": 20, "share": 2.0, "none": null, "other": null, "edits": [{"at": 3}, {}]
    });
    assert_eq!(told, meant);
    let mut half = json!({"path": "a", "limit": 2.5});
    tidy(&schema, &mut half);
    assert_eq!(half["limit"], 2.5);
    assert!(!is_untidy(&json!({"path": ["a"], "limit": 3, "deep": {"yes": true}})));
}
