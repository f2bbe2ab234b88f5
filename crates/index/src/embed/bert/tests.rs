use super::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    kind: String,
    text: String,
    token_ids: Vec<u32>,
    embedding: Vec<f32>,
}

const REFERENCE: &str = include_str!("../../../assets/code-embed-v2/reference.json");

#[test]
fn the_built_in_model_does_what_its_makers_say() {
    let references: Vec<Reference> = serde_json::from_str(REFERENCE).unwrap();
    let bert = Bert::built_in();
    for reference in &references {
        let purpose = if reference.kind == "query" { Purpose::Query } else { Purpose::Passage };
        assert_eq!(
            bert.token_ids(purpose, &reference.text).unwrap(),
            reference.token_ids,
            "{}",
            reference.text
        );
        let vector = &bert.embed(purpose, &[&reference.text]).unwrap()[0];
        let cosine: f32 = vector.iter().zip(&reference.embedding).map(|(a, b)| a * b).sum();
        assert!(cosine >= 0.999, "{cosine} for {}", reference.text);
    }
    // Together they are what they are alone.
    let texts: Vec<&str> = references.iter().map(|reference| reference.text.as_str()).collect();
    let together = bert.embed(Purpose::Passage, &texts).unwrap();
    for (text, vector) in texts.iter().zip(&together) {
        assert_eq!(&bert.embed(Purpose::Passage, &[text]).unwrap()[0], vector);
    }
}

#[test]
fn strange_texts_have_vectors() {
    let bert = Bert::built_in();
    let long = "x".repeat(100_000);
    for text in ["", " ", "\0", "解析文件", "🦀🦀", long.as_str(), "a\u{301}"] {
        let vector = &bert.embed(Purpose::Passage, &[text]).unwrap()[0];
        let length: f32 = vector.iter().map(|value| value * value).sum();
        assert!((length - 1.0).abs() < 1e-3 && vector.len() == 384, "{text:?}");
    }
}

#[test]
fn a_folder_that_is_no_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Bert::from_folder(folder.path()).is_err());
    std::fs::write(folder.path().join("vocab.txt"), "[UNK]\n[CLS]\n[SEP]\n").unwrap();
    for bytes in [b"".to_vec(), vec![255; 100], b"\x02\0\0\0\0\0\0\0{}".to_vec()] {
        std::fs::write(folder.path().join("model.safetensors"), bytes).unwrap();
        let error = Bert::from_folder(folder.path()).unwrap_err();
        assert!(error.hint().is_some(), "{error}");
    }
    std::fs::write(folder.path().join("vocab.txt"), VOCABULARY).unwrap();
    std::fs::write(folder.path().join("model.safetensors"), WEIGHTS).unwrap();
    assert_eq!(Bert::from_folder(folder.path()).unwrap().dimensions(), 384);
}

/// `cargo test -p index --release -- --ignored --nocapture speed`
#[test]
#[ignore = "a measure, not a test"]
fn speed() {
    let bert = Bert::built_in();
    let text =
        "fn parse(input: &str) -> Result<Vec<Token>, Error> { let mut tokens = Vec::new(); ".repeat(10);
    let texts = vec![text.as_str(); 64];
    bert.embed(Purpose::Passage, &texts[..1]).unwrap();
    let started = std::time::Instant::now();
    bert.embed(Purpose::Passage, &texts).unwrap();
    println!("{:.2} ms a passage of 96 tokens", started.elapsed().as_secs_f64() * 1e3 / 64.0);
}
