//! Lines of JSON.

use serde_json::{Map, Value, json};

/// Many values of one measure.
pub(super) struct Samples(Vec<f64>);

impl Samples {
    pub(super) fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    pub(super) fn median(&self) -> f64 {
        let middle = self.0.len() / 2;
        match self.0.len() {
            0 => f64::NAN,
            count if count % 2 == 1 => self.0[middle],
            _ => (self.0[middle - 1] + self.0[middle]) / 2.0,
        }
    }

    pub(super) fn min(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    pub(super) fn max(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }
}

/// One measure and what was found.
pub(super) struct Line {
    measure: &'static str,
    fields: Map<String, Value>,
}

impl Line {
    /// No target means that there is nothing to miss.
    pub(super) fn new(measure: &'static str, value: f64, unit: &str, target: Option<f64>) -> Self {
        let ok = target.is_none_or(|target| value <= target);
        let fields = json!({
            "measure": measure, "value": rounded(value), "unit": unit, "target": target, "ok": ok,
        });
        let Value::Object(fields) = fields else { unreachable!("an object was written down above") };
        Self { measure, fields }
    }

    /// The median of many is the value.
    pub(super) fn median(measure: &'static str, samples: &Samples, unit: &str, target: Option<f64>) -> Self {
        let line = Self::new(measure, samples.median(), unit, target);
        line.with("min", samples.min()).with("max", samples.max()).with("runs", samples.0.len() as f64)
    }

    pub(super) fn with(mut self, name: &str, value: f64) -> Self {
        self.fields.insert(name.to_owned(), rounded(value));
        self
    }

    pub(super) fn note(mut self, text: &str) -> Self {
        self.fields.insert("note".to_owned(), text.into());
        self
    }

    pub(super) fn measure(&self) -> &'static str {
        self.measure
    }

    pub(super) fn print(self) {
        println!("{}", Value::Object(self.fields));
    }
}

/// Three digits behind the point are more than a clock can tell.
fn rounded(value: f64) -> Value {
    let value = (value * 1000.0).round() / 1000.0;
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}

#[cfg(test)]
mod tests;
