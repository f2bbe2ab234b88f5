//! What Azure wants beyond OpenAI's formats, for addresses of its kind.

use crate::model_server::Recorded;

pub(super) fn check(request: &Recorded) -> Result<(), String> {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    if !path.starts_with("/openai/") {
        return Ok(());
    }
    if request.header("authorization").is_some() || request.header("api-key").is_none_or(str::is_empty) {
        return Err("Access denied due to missing subscription key: it belongs into `api-key`".to_owned());
    }
    let version = query.split('&').find_map(|pair| pair.strip_prefix("api-version="));
    if path.starts_with("/openai/v1/") {
        return Ok(());
    }
    let deployment = path.strip_prefix("/openai/deployments/").and_then(|rest| rest.split_once('/'));
    match (deployment, version) {
        (Some((name, "chat/completions")), Some(version)) if !name.is_empty() && !version.is_empty() => {
            Ok(())
        }
        (_, None) => Err("Missing required query parameter: api-version".to_owned()),
        _ => Err("Resource not found: the path names no deployment".to_owned()),
    }
}
