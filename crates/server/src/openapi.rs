//! The OpenAPI document, made from the table of routes and the types that they read and write.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::failure::ApiError;
use crate::rest::{Answer, ROUTES, Route};

/// The document that `/api/openapi.json` answers with.
pub fn document(version: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
    });
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for route in ROUTES {
        let operation = operation(route, &mut generator);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = operation;
    }
    let error = generator.subschema_for::<ApiError>();
    bounded(json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Covey",
            "version": version,
            "description": "Coding agents working as one team, on your machine. Every request needs the token that `covey serve` printed.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": generator.take_definitions(true),
            "responses": {
                "Error": {
                    "description": "What went wrong, and what to do about it",
                    "content": {"application/json": {"schema": error}},
                },
            },
        },
    }))
}

/// Numbers get the bounds of their type, which `format` only hints at.
fn bounded(mut value: Value) -> Value {
    match &mut value {
        Value::Object(map) => {
            map.values_mut().for_each(|value| *value = bounded(value.take()));
            if map.get("format").is_some_and(|format| format == "uint32") && !map.contains_key("maximum") {
                map.insert("maximum".to_owned(), u32::MAX.into());
                // The bounds say all of it, and not everybody knows the word.
                map.remove("format");
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| *value = bounded(value.take())),
        _ => {}
    }
    value
}

fn operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut operation = json!({
        "summary": route.summary,
        "operationId": operation_id(route),
        "responses": responses(route, generator),
    });
    let mut parameters: Vec<Value> = path_parameters(route.path).map(path_parameter).collect();
    if let Some(query) = route.query {
        parameters.extend(query_parameters(&resolved(query(generator).to_value(), generator)));
    }
    if !parameters.is_empty() {
        operation["parameters"] = json!(parameters);
    }
    if let Some(body) = route.body {
        let schema = body(generator);
        let is_required = resolved(schema.clone().to_value(), generator).get("required").is_some()
            || resolved(schema.clone().to_value(), generator).get("oneOf").is_some();
        operation["requestBody"] =
            json!({"required": is_required, "content": {"application/json": {"schema": schema}}});
    }
    operation
}

/// `get /api/sessions/{session}/events` becomes `get_sessions_session_events`.
fn operation_id(route: &Route) -> String {
    let words = route.path.split(['/', '{', '}', '.']).filter(|word| !word.is_empty() && *word != "api");
    std::iter::once(route.method).chain(words).collect::<Vec<_>>().join("_")
}

fn responses(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut answer = json!({"description": route.summary});
    match &route.answer {
        Answer::Nothing => {}
        Answer::Json(schema) => {
            answer["content"] = json!({"application/json": {"schema": schema(generator)}})
        }
        Answer::Document(types) => {
            let types = types.iter().map(|media_type| ((*media_type).to_owned(), json!({})));
            answer["content"] = Value::Object(types.collect());
        }
    }
    let mut responses = Map::new();
    responses.insert(route.status.to_string(), answer);
    let error = json!({"$ref": "#/components/responses/Error"});
    for status in ["4XX", "5XX"] {
        responses.insert(status.to_owned(), error.clone());
    }
    Value::Object(responses)
}

fn path_parameters(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn path_parameter(name: &str) -> Value {
    let schema = match name {
        "session" => json!({"type": "string", "pattern": "^[0-9]{8}-[0-9]{6}-[0-9a-f]{8}$"}),
        "hash" => json!({"type": "string", "pattern": "^[0-9a-f]{64}$"}),
        _ => json!({"type": "string", "minLength": 1}),
    };
    json!({"name": name, "in": "path", "required": true, "schema": schema})
}

fn query_parameters(schema: &Value) -> Vec<Value> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let parameter = |(name, schema): (String, Value)| {
        let required = required.contains(&json!(name));
        json!({"name": name, "in": "query", "required": required, "schema": not_null(schema)})
    };
    properties.into_iter().map(parameter).collect()
}

/// What is optional in a query is left out, not null.
fn not_null(mut schema: Value) -> Value {
    let Some(object) = schema.as_object_mut() else { return schema };
    // Not by index, which would put a null where there is no type.
    if let Some(types) = object.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    object.remove("default");
    schema
}

/// The schema itself, where there is only a reference to it.
fn resolved(schema: Value, generator: &SchemaGenerator) -> Value {
    let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
    name.and_then(|name| generator.definitions().get(name)).cloned().unwrap_or(schema)
}
