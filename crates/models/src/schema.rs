//! JSON Schema, cut down to what each provider accepts.

use serde_json::{Map, Value, json};

/// A schema of arguments: always an object, with nothing beside its properties that providers refuse at the top.
pub(crate) fn arguments(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return json!({"type": "object", "properties": {}}) };
    let refused = ["anyOf", "oneOf", "allOf", "enum", "not"];
    if fields.get("type").is_some_and(|kind| kind == "object")
        && !refused.iter().any(|key| fields.contains_key(*key))
    {
        return schema.clone();
    }
    let mut object = fields.clone();
    refused.iter().for_each(|key| drop(object.remove(*key)));
    object.insert("type".to_owned(), "object".into());
    object.entry("properties").or_insert_with(|| json!({}));
    Value::Object(object)
}

/// Whether OpenAI can hold a model to every part of it: all properties required, and no others.
pub(crate) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Array(parts) => parts.iter().all(is_strict),
        Value::Object(fields) => {
            let properties = fields.get("properties").and_then(Value::as_object);
            let complete = properties.is_none_or(|properties| {
                let required = fields.get("required").and_then(Value::as_array);
                let is_required = |name: &String| {
                    required.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(name)))
                };
                fields.get("additionalProperties") == Some(&Value::Bool(false))
                    && properties.keys().all(is_required)
            });
            complete && fields.values().all(is_strict)
        }
        _ => true,
    }
}

/// For Anthropic's structured output: objects closed, and without the limits that it does not know.
pub(crate) fn closed(schema: &Value) -> Value {
    const UNKNOWN: [&str; 12] = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
    ];
    match schema {
        Value::Array(parts) => parts.iter().map(closed).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| !UNKNOWN.contains(&key.as_str()));
            let mut object: Map<_, _> = kept
                .map(|(key, value)| {
                    // Names of properties are not keywords.
                    let value = match (key.as_str(), value) {
                        ("properties" | "$defs" | "definitions", Value::Object(inner)) => {
                            inner.iter().map(|(name, value)| (name.clone(), closed(value))).collect()
                        }
                        _ => closed(value),
                    };
                    (key.clone(), value)
                })
                .collect();
            if object.get("type").is_some_and(|kind| kind == "object") {
                object.insert("additionalProperties".to_owned(), false.into());
            }
            Value::Object(object)
        }
        other => other.clone(),
    }
}

/// Gemini's subset: no references, one type each, only keywords that it knows.
pub(crate) fn gemini(schema: &Value) -> Value {
    Gemini { root: schema }.convert(schema, 0)
}

struct Gemini<'a> {
    root: &'a Value,
}

/// Deeper than any schema that a person wrote: what is below refers to itself.
const DEEPEST: usize = 16;

impl Gemini<'_> {
    fn convert(&self, schema: &Value, depth: usize) -> Value {
        let Value::Object(fields) = schema else { return json!({"type": "string"}) };
        if depth > DEEPEST {
            return json!({"type": "object"});
        }
        if let Some(target) = fields.get("$ref").and_then(Value::as_str).and_then(|path| self.target(path)) {
            let mut merged = target.as_object().cloned().unwrap_or_default();
            let beside = fields.iter().filter(|(key, _)| *key != "$ref");
            merged.extend(beside.map(|(key, value)| (key.clone(), value.clone())));
            return self.convert(&Value::Object(merged), depth + 1);
        }
        if let Some(Value::Array(parts)) = fields.get("allOf") {
            return self.convert(&self.merged(fields, parts), depth + 1);
        }
        let mut out = Map::new();
        let mut hints = Vec::new();
        self.kind(fields, &mut out, depth);
        self.values(fields, &mut out, &mut hints);
        for (key, value) in fields {
            match key.as_str() {
                "title" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minLength"
                | "maxLength" | "pattern" | "minimum" | "maximum" | "default" => {
                    out.insert(key.clone(), value.clone());
                }
                "exclusiveMinimum" if value.is_number() => hints.push(format!("more than {value}")),
                "exclusiveMaximum" if value.is_number() => hints.push(format!("less than {value}")),
                "properties" => {
                    let inner = value.as_object().into_iter().flatten();
                    let inner: Map<_, _> =
                        inner.map(|(name, value)| (name.clone(), self.convert(value, depth + 1))).collect();
                    if !inner.is_empty() {
                        out.insert("properties".to_owned(), Value::Object(inner));
                    }
                }
                "items" => {
                    out.insert("items".to_owned(), self.convert(value, depth + 1));
                }
                "format" if known_format(&out, value) => {
                    out.insert("format".to_owned(), value.clone());
                }
                _ => {}
            }
        }
        if let Some(Value::Array(required)) = fields.get("required") {
            let known = |name: &&Value| {
                name.as_str()
                    .is_some_and(|name| out.get("properties").is_some_and(|all| all.get(name).is_some()))
            };
            let required: Vec<_> = required.iter().filter(known).cloned().collect();
            if !required.is_empty() {
                out.insert("required".to_owned(), Value::Array(required));
            }
        }
        if out.get("type").is_some_and(|kind| kind == "array") && !out.contains_key("items") {
            out.insert("items".to_owned(), json!({"type": "string"}));
        }
        let described = fields.get("description").and_then(Value::as_str).unwrap_or_default();
        let text = [described.to_owned(), hints.join(", ")].join(if described.is_empty() { "" } else { " " });
        if !text.trim().is_empty() {
            out.insert("description".to_owned(), text.trim().into());
        }
        Value::Object(out)
    }

    fn target(&self, path: &str) -> Option<&Value> {
        self.root.pointer(path.strip_prefix('#')?)
    }

    fn merged(&self, fields: &Map<String, Value>, parts: &[Value]) -> Value {
        let mut all = fields.clone();
        all.remove("allOf");
        for part in parts {
            let path = part.get("$ref").and_then(Value::as_str);
            let part = path.and_then(|path| self.target(path)).unwrap_or(part);
            for (key, value) in part.as_object().into_iter().flatten() {
                match (all.get_mut(key), value) {
                    (Some(Value::Object(known)), Value::Object(more)) => known.extend(more.clone()),
                    (Some(Value::Array(known)), Value::Array(more)) => known.extend(more.clone()),
                    (Some(_), _) => {}
                    (None, _) => drop(all.insert(key.clone(), value.clone())),
                }
            }
        }
        Value::Object(all)
    }

    /// `type`, `nullable` and `anyOf`: several types become several schemas, and null is no type.
    fn kind(&self, fields: &Map<String, Value>, out: &mut Map<String, Value>, depth: usize) {
        let choices = fields.get("anyOf").or_else(|| fields.get("oneOf")).and_then(Value::as_array);
        let named = match fields.get("type") {
            Some(Value::String(one)) => vec![one.as_str()],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let types: Vec<_> = named.iter().copied().filter(|kind| *kind != "null").collect();
        let is_null = |choice: &&Value| choice.get("type").is_some_and(|kind| kind == "null");
        let null_choice = choices.is_some_and(|choices| choices.iter().any(|choice| is_null(&choice)));
        if types.len() < named.len() || null_choice || fields.get("nullable") == Some(&Value::Bool(true)) {
            out.insert("nullable".to_owned(), true.into());
        }
        let choices: Option<Vec<_>> =
            choices.map(|choices| choices.iter().filter(|choice| !is_null(choice)).collect());
        match (choices.as_deref(), &types[..]) {
            (Some([only]), _) => {
                if let Value::Object(inner) = self.convert(only, depth + 1) {
                    inner.into_iter().for_each(|(key, value)| drop(out.insert(key, value)));
                }
            }
            (Some(several @ [_, _, ..]), _) => {
                let several = several.iter().map(|choice| self.convert(choice, depth + 1));
                out.insert("anyOf".to_owned(), several.collect());
            }
            (_, [one]) => drop(out.insert("type".to_owned(), (*one).into())),
            (_, [_, _, ..]) => {
                let each = types.iter().map(|kind| {
                    let mut one = fields.clone();
                    one.retain(|key, _| !matches!(key.as_str(), "description" | "title" | "default"));
                    one.insert("type".to_owned(), (*kind).into());
                    self.convert(&Value::Object(one), depth + 1)
                });
                out.insert("anyOf".to_owned(), each.collect());
            }
            (_, []) => {
                let guess = if fields.contains_key("properties") {
                    "object"
                } else if fields.contains_key("items") {
                    "array"
                } else {
                    "string"
                };
                out.insert("type".to_owned(), guess.into());
            }
        }
    }

    /// `enum` and `const`: this API has them for texts alone, so other values are told in words.
    fn values(&self, fields: &Map<String, Value>, out: &mut Map<String, Value>, hints: &mut Vec<String>) {
        let one = fields.get("const").map(|value| vec![value.clone()]);
        let Some(values) = one.or_else(|| fields.get("enum")?.as_array().cloned()) else { return };
        if values.iter().any(Value::is_null) {
            out.insert("nullable".to_owned(), true.into());
        }
        let values: Vec<_> = values.into_iter().filter(|value| !value.is_null()).collect();
        let texts =
            values.iter().all(Value::is_string) && out.get("type").is_some_and(|kind| kind == "string");
        if texts && !values.is_empty() {
            out.insert("enum".to_owned(), Value::Array(values));
        } else if !values.is_empty() {
            let words: Vec<_> = values.iter().map(Value::to_string).collect();
            hints.push(format!("one of {}", words.join(", ")));
        }
    }
}

fn known_format(out: &Map<String, Value>, format: &Value) -> bool {
    let known: &[&str] = match out.get("type").and_then(Value::as_str) {
        Some("string") => &["enum", "date-time"],
        Some("integer") => &["int32", "int64"],
        Some("number") => &["float", "double"],
        _ => &[],
    };
    format.as_str().is_some_and(|format| known.contains(&format))
}

#[cfg(test)]
mod tests;
