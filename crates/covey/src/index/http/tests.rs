use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use super::*;

/// Answers one request after the other with these, and hands back what was asked: the path and the body.
fn service(answers: Vec<(u16, Value)>) -> (String, JoinHandle<Vec<(String, Value)>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for (status, answer) in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut first = String::new();
            reader.read_line(&mut first).unwrap();
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                let line = line.trim().to_ascii_lowercase();
                if line.is_empty() {
                    break;
                }
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            asked.push((first.split(' ').nth(1).unwrap().to_owned(), serde_json::from_slice(&body).unwrap()));
            let answer = answer.to_string();
            let head = format!(
                "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                answer.len()
            );
            stream.write_all(format!("{head}{answer}").as_bytes()).unwrap();
        }
        asked
    });
    (address, asked)
}

fn embedder(service: Service, base: &str) -> HttpEmbedder {
    HttpEmbedder::new(service, Some("m".to_owned()), Some(base), Some("COVEY_TEST_NO_SUCH_KEY"), Some(2))
        .unwrap()
}

#[test]
fn every_service_is_asked_in_its_own_way_and_answers_unit_vectors() {
    let rows = json!([[3.0, 4.0], [0.0, 2.0]]);
    for (kind, answer, path) in [
        (
            Service::OpenAi,
            json!({"data": [{"index": 1, "embedding": rows[1]}, {"index": 0, "embedding": rows[0]}]}),
            "/embeddings",
        ),
        (
            Service::Voyage,
            json!({"data": [{"index": 0, "embedding": rows[0]}, {"index": 1, "embedding": rows[1]}]}),
            "/embeddings",
        ),
        (
            Service::Gemini,
            json!({"embeddings": [{"values": rows[0]}, {"values": rows[1]}]}),
            "/models/m:batchEmbedContents",
        ),
        (Service::Ollama, json!({"embeddings": rows}), "/api/embed"),
    ] {
        let (base, asked) = service(vec![(200, answer)]);
        let vectors = embedder(kind, &base).embed(Purpose::Passage, &["one", "two"]).unwrap();
        assert_eq!(vectors, [[0.6, 0.8], [0.0, 1.0]], "{kind:?}");
        let asked = asked.join().unwrap();
        assert_eq!(asked[0].0, path, "{kind:?}");
        let body = asked[0].1.to_string();
        assert!(body.contains("one") && body.contains("two"), "{kind:?}: {body}");
    }
}

#[test]
fn a_busy_service_is_asked_again_and_a_refusal_is_not() {
    let good = json!({"embeddings": [[1.0, 0.0]]});
    let (base, asked) = service(vec![(503, json!({})), (200, good)]);
    assert!(embedder(Service::Ollama, &base).embed(Purpose::Query, &["one"]).is_ok());
    assert_eq!(asked.join().unwrap().len(), 2);

    let (base, asked) = service(vec![(401, json!({"error": "the text was: one"}))]);
    let error = embedder(Service::Ollama, &base).embed(Purpose::Query, &["one"]).unwrap_err().to_string();
    assert!(error.contains("401") && !error.contains("the text was"), "{error}");
    assert_eq!(asked.join().unwrap().len(), 1);
}

#[test]
fn answers_that_do_not_fit_are_errors() {
    for (answer, says) in [
        (json!({}), "no vectors"),
        (json!({"embeddings": []}), "0 vectors for 1 texts"),
        (json!({"embeddings": [[1.0, 2.0, 3.0]]}), "3 numbers, not 2"),
    ] {
        let (base, asked) = service(vec![(200, answer)]);
        let error = embedder(Service::Ollama, &base).embed(Purpose::Query, &["one"]).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        asked.join().unwrap();
    }
}
