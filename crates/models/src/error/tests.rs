use super::*;

fn named(status: u16, body: &str) -> String {
    let error = classify("p", "http://h/v1", Some(status), None, body);
    let debug = format!("{error:?}");
    format!("{}: {error}", debug.split([' ', '{']).next().unwrap())
}

#[test]
fn bodies_of_real_providers_are_understood() {
    let cases = [
        (
            429,
            r#"{"error":{"message":"Rate limit reached for gpt-5","type":"requests","code":"rate_limit_exceeded"}}"#,
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9000","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]"#,
        ),
        (
            401,
            r#"{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}"#,
        ),
        (
            404,
            r#"{"error":{"message":"The model `x` does not exist","type":"invalid_request_error","code":"model_not_found"}}"#,
        ),
        (404, "404 page not found"),
        (404, "<!DOCTYPE html><html><head><title>Not\nFound</title></head></html>"),
        (422, r#"{"object":"error","message":"bad field","type":"invalid_request_invalid_args"}"#),
        (400, r#"{"error":{"message":"blocked","code":"content_filter"}}"#),
        (503, r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#),
        (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
        (500, ""),
        (400, r#"{"error":"model is required"}"#),
        (307, ""),
        (
            400,
            r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}"#,
        ),
        (
            429,
            r#"{"error":{"code":429,"message":"You exceeded your current quota, please check your plan.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}"#,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000, decrease input length or `max_tokens` and try again"}}"#,
        ),
        (
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"}}"#,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
        ),
        (403, r#"{"type":"error","error":{"type":"permission_error","message":"not yours"}}"#),
    ];
    let lines: Vec<_> = cases.iter().map(|(status, body)| named(*status, body)).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn errors_inside_a_stream_have_no_status() {
    let kind = |body: &str| classify("p", "", None, None, body);
    assert!(matches!(kind(r#"{"error":{"message":"Overloaded"}}"#), CallError::Overloaded { .. }));
    assert!(matches!(
        kind(r#"{"error":{"type":"rate_limit_error","message":"x"}}"#),
        CallError::RateLimited { .. }
    ));
    assert!(matches!(
        kind(r#"{"error":{"type":"invalid_request_error","message":"x"}}"#),
        CallError::CallerMistake { .. }
    ));
}

#[test]
fn how_long_to_wait_is_read_from_bodies() {
    let wait = |body: &str| classify("p", "", Some(429), None, body).retry_after();
    let seconds = |seconds| Some(Duration::from_secs_f64(seconds));
    let details = r#"{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"reason":"RATE"},{"retryDelay":"34.5s"}]}}"#;
    assert_eq!(wait(details), seconds(34.5));
    let text = |words: &str| {
        format!(r#"{{"error":{{"message":"Rate limit reached. Please try again in {words}. Visit"}}}}"#)
    };
    assert_eq!(wait(&text("11.054s")), seconds(11.054));
    assert_eq!(wait(&text("120ms")), seconds(0.12));
    assert_eq!(wait(&text("6m0.5s")), seconds(360.5));
    assert_eq!(wait(&text("a while")), None);
    // The header goes first: it is the one thing that proxies set too.
    let header = classify("p", "", Some(429), Some(Duration::from_secs(1)), details);
    assert_eq!(header.retry_after(), seconds(1.0));
}

#[test]
fn foreign_words_are_safe_to_print() {
    assert_eq!(clean("a\u{1b}[31mb\r\nc\u{0}\td"), "a [31mb c d");
    let long = clean(&"ü".repeat(5000));
    assert!(long.len() < 620 && long.ends_with('…'));
}

#[test]
fn a_status_inside_an_error_counts_where_there_is_no_other() {
    let kind = |body: &str| classify("p", "", None, None, body);
    let limited = kind(r#"{"error":{"message":"slow down","code":429}}"#);
    assert!(matches!(limited, CallError::RateLimited { .. }), "{limited:?}");
    let refused = kind(r#"[{"error":{"message":"who are you?","code":401,"status":"UNAUTHENTICATED"}}]"#);
    assert!(matches!(refused, CallError::BadCredential { .. }), "{refused:?}");
    for odd in
        [r#"{"error":{"message":"x","code":-1}}"#, r#"{"error":{"message":"x","code":1e30}}"#, "[]", "7"]
    {
        kind(odd);
    }
    // What the connection itself says goes first.
    let mistake = classify("p", "", Some(400), None, r#"{"error":{"message":"x","code":429}}"#);
    assert!(matches!(mistake, CallError::CallerMistake { status: 400, .. }), "{mistake:?}");
}
