use super::*;

#[test]
fn the_median_of_an_even_count_lies_between() {
    assert_eq!(Samples::new(vec![4.0, 1.0, 3.0, 2.0]).median(), 2.5);
    assert_eq!(Samples::new(vec![3.0, 1.0, 2.0]).median(), 2.0);
}

#[test]
fn a_missed_target_is_told() {
    let line = Line::new("x", 3.5, "ms", Some(3.0)).with("floor", 1.0);
    let text = Value::Object(line.fields).to_string();
    assert_eq!(text, r#"{"measure":"x","value":3.5,"unit":"ms","target":3.0,"ok":false,"floor":1}"#);
}
