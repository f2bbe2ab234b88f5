//! Whether arguments fit a schema.
//!
//! The subset of JSON Schema in which tools describe their arguments. Words that are not known here are let pass: the
//! tool itself is the last to judge, and a server's richer schema must not stand in the way of a good call.

use serde_json::{Map, Value};

#[cfg(test)]
mod tests;

/// Deeper than any arguments of a real tool.
const MAX_DEPTH: usize = 32;

/// Where arguments do not fit, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct Misfit {
    /// `edits[2].old`, or `arguments` for the whole.
    place: String,
    reason: String,
}

/// The first place where `value` does not fit `schema`.
pub fn check(schema: &Value, value: &Value) -> Result<(), Misfit> {
    fits(schema, schema, value, "", 0)
}

/// What a model means, spelled as the schema has it: an argument that may be absent and is `null` is absent, and `3.0` is
/// the whole number 3. Some models fill in every argument there is, and some wires have one kind of number.
pub fn tidy(schema: &Value, value: &mut Value) {
    tidy_within(schema, value, 0);
}

/// Whether there is anything to tidy at all, which is rare.
pub fn is_untidy(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(is_untidy),
        Value::Object(fields) => fields.values().any(is_untidy),
        Value::Bool(_) | Value::String(_) => false,
    }
}

fn tidy_within(schema: &Value, value: &mut Value, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    let types = schema.get("type");
    match value {
        Value::Object(fields) => {
            let known = schema.get("properties").and_then(Value::as_object);
            let required = schema.get("required").and_then(Value::as_array);
            let is_required =
                |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
            fields.retain(|name, value| {
                let Some(schema) = known.and_then(|known| known.get(name)) else { return true };
                !value.is_null() || is_required(name) || fits(schema, schema, value, "", 0).is_ok()
            });
            for (name, value) in fields {
                if let Some(schema) = known.and_then(|known| known.get(name)) {
                    tidy_within(schema, value, depth + 1);
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return };
            items.iter_mut().for_each(|item| tidy_within(schema, item, depth + 1));
        }
        Value::Number(number) if number.is_f64() && types.is_some_and(wants_integer) => {
            // Larger ones are not exact.
            let exact = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9e15);
            if let Some(exact) = exact {
                *value = Value::from(exact as i64);
            }
        }
        _ => {}
    }
}

fn wants_integer(types: &Value) -> bool {
    types == "integer" || types.as_array().is_some_and(|names| names.iter().any(|name| name == "integer"))
}

fn fits(whole: &Value, schema: &Value, value: &Value, place: &str, depth: usize) -> Result<(), Misfit> {
    let Value::Object(words) = schema else { return Ok(()) };
    if depth > MAX_DEPTH {
        return misfit(place, "too deeply nested".to_owned());
    }
    if let Some(target) = words.get("$ref").and_then(Value::as_str) {
        let found = target.strip_prefix('#').and_then(|pointer| whole.pointer(pointer));
        return found.map_or(Ok(()), |found| fits(whole, found, value, place, depth + 1));
    }
    if let Some(types) = words.get("type")
        && !type_fits(types, value)
    {
        return misfit(place, format!("must be {}, not {}", type_names(types), type_of(value)));
    }
    if let Some(Value::Array(allowed)) = words.get("enum")
        && !allowed.contains(value)
    {
        let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
        return misfit(place, format!("must be one of {}", allowed.join(", ")));
    }
    if let Some(expected) = words.get("const")
        && expected != value
    {
        return misfit(place, format!("must be {expected}"));
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(Value::Array(choices)) = words.get(word) {
            let errors: Vec<Misfit> = choices
                .iter()
                .map_while(|choice| fits(whole, choice, value, place, depth + 1).err())
                .collect();
            if errors.len() == choices.len()
                && let Some(first) = errors.into_iter().next()
            {
                return Err(first);
            }
        }
    }
    if let Some(Value::Array(all)) = words.get("allOf") {
        all.iter().try_for_each(|part| fits(whole, part, value, place, depth + 1))?;
    }
    match value {
        Value::Object(fields) => object_fits(whole, words, fields, place, depth),
        Value::Array(items) => array_fits(whole, words, items, place, depth),
        Value::Number(number) => number_fits(words, number.as_f64().unwrap_or_default(), place),
        Value::String(text) => text_fits(words, text, place),
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn object_fits(
    whole: &Value,
    words: &Map<String, Value>,
    fields: &Map<String, Value>,
    place: &str,
    depth: usize,
) -> Result<(), Misfit> {
    let known = words.get("properties").and_then(Value::as_object);
    for name in words.get("required").and_then(Value::as_array).into_iter().flatten() {
        if let Some(name) = name.as_str()
            && !fields.contains_key(name)
        {
            return misfit(place, format!("`{name}` is missing"));
        }
    }
    for (name, value) in fields {
        let inner = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        match (known.and_then(|known| known.get(name)), words.get("additionalProperties")) {
            (Some(schema), _) => fits(whole, schema, value, &inner, depth + 1)?,
            (None, Some(Value::Bool(false))) => {
                let names: Vec<&str> = known.into_iter().flat_map(Map::keys).map(String::as_str).collect();
                return misfit(
                    place,
                    format!("`{name}` is not an argument; there are: {}", names.join(", ")),
                );
            }
            (None, Some(schema @ Value::Object(_))) => fits(whole, schema, value, &inner, depth + 1)?,
            (None, _) => {}
        }
    }
    Ok(())
}

fn array_fits(
    whole: &Value,
    words: &Map<String, Value>,
    items: &[Value],
    place: &str,
    depth: usize,
) -> Result<(), Misfit> {
    let bound = |word: &str| words.get(word).and_then(Value::as_u64);
    let count = items.len() as u64;
    if let Some(least) = bound("minItems").filter(|least| count < *least) {
        return misfit(place, format!("needs at least {least} items, has {count}"));
    }
    if let Some(most) = bound("maxItems").filter(|most| count > *most) {
        return misfit(place, format!("takes at most {most} items, has {count}"));
    }
    let Some(schema) = words.get("items") else { return Ok(()) };
    for (at, item) in items.iter().enumerate() {
        fits(whole, schema, item, &format!("{place}[{at}]"), depth + 1)?;
    }
    Ok(())
}

fn number_fits(words: &Map<String, Value>, number: f64, place: &str) -> Result<(), Misfit> {
    let bound = |word: &str| words.get(word).and_then(Value::as_f64);
    if let Some(least) = bound("minimum").filter(|least| number < *least) {
        return misfit(place, format!("must be at least {least}"));
    }
    if let Some(most) = bound("maximum").filter(|most| number > *most) {
        return misfit(place, format!("must be at most {most}"));
    }
    Ok(())
}

fn text_fits(words: &Map<String, Value>, text: &str, place: &str) -> Result<(), Misfit> {
    let bound = |word: &str| words.get(word).and_then(Value::as_u64);
    let length = text.chars().count() as u64;
    if bound("minLength").is_some_and(|least| length < least) {
        return misfit(place, if length == 0 { "is empty".to_owned() } else { "is too short".to_owned() });
    }
    if let Some(most) = bound("maxLength").filter(|most| length > *most) {
        return misfit(place, format!("is longer than {most} characters"));
    }
    Ok(())
}

fn type_fits(types: &Value, value: &Value) -> bool {
    let fits = |name: &str| match name {
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        "number" => value.is_number(),
        name => name == type_of(value),
    };
    match types {
        Value::String(name) => fits(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(fits),
        _ => true,
    }
}

fn type_names(types: &Value) -> String {
    match types {
        Value::String(name) => name.clone(),
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "something else".to_owned(),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn misfit(place: &str, reason: String) -> Result<(), Misfit> {
    let place = if place.is_empty() { "arguments".to_owned() } else { format!("`{place}`") };
    Err(Misfit { place, reason })
}
