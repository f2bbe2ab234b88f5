use net::header::HeaderValue;

use super::*;

fn asked(name: &'static str, value: &str) -> Option<Duration> {
    let mut headers = HeaderMap::new();
    headers.insert(name, HeaderValue::from_str(value).unwrap());
    retry_after(&headers, SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777))
}

#[test]
fn waits_are_read_in_every_form() {
    assert_eq!(asked("retry-after", "7"), Some(Duration::from_secs(7)));
    assert_eq!(asked("retry-after", "0.5"), Some(Duration::from_millis(500)));
    assert_eq!(asked("retry-after-ms", "250"), Some(Duration::from_millis(250)));
    assert_eq!(asked("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"), Some(Duration::from_secs(10)));
    assert_eq!(asked("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
    for nonsense in ["soon", "-1", "NaN", "Sun, 06 Nov", "Sun, 99 Nov 1994 08:49:37 GMT"] {
        assert_eq!(asked("retry-after", nonsense), None, "{nonsense}");
    }
    // Absurdly long is long, and not the same as nothing.
    let day = Some(Duration::from_secs(86_400));
    for absurd in ["1e300", "inf", "99999999999999999999", "86401", "Fri, 31 Dec 9999 23:59:59 GMT"] {
        assert_eq!(asked("retry-after", absurd), day, "{absurd}");
    }
    assert_eq!(asked("retry-after-ms", "1e300"), day);
    assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
    assert_eq!(http_date("Thu, 29 Feb 2024 12:00:00 GMT"), Some(1_709_208_000));
}

#[test]
fn waits_double_and_are_spread() {
    let policy = RetryPolicy::default();
    let error = CallError::BrokenStream { provider: "p".to_owned(), what: "cut".to_owned() };
    for (attempt, middle) in [(1, 500.0), (2, 1000.0), (4, 4000.0)] {
        let wait = policy.wait(&error, attempt).unwrap().as_secs_f64() * 1000.0;
        assert!((middle * 0.75..=middle * 1.25).contains(&wait), "attempt {attempt}: {wait}");
    }
    assert_eq!(policy.wait(&error, 5), None);
    let patient = RetryPolicy { retries: 40, ..policy };
    assert_eq!(patient.wait(&error, 40), Some(patient.longest));
}

#[test]
fn a_provider_is_waited_for_as_long_as_it_asks_but_not_for_ever() {
    let policy = RetryPolicy::default();
    let limited = |seconds| CallError::RateLimited {
        provider: "p".to_owned(),
        retry_after: Some(Duration::from_secs(seconds)),
        message: String::new(),
    };
    assert_eq!(policy.wait(&limited(60), 1), Some(Duration::from_secs(60)));
    assert_eq!(policy.wait(&limited(61), 1), None);
}
