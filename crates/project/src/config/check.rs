//! Holding a layer against the schema: what it may not say is an error, what it may not decide is held.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::layers::Source;
use super::schema::{Key, Reach, Schema};
use super::tree::Node;
use super::{ConfigError, Held, HeldReason, HumanDuration, KeyPath, Origin};
use crate::nearest::nearest;

/// A file can be TOML and yet not ours at all; after this many errors the rest says nothing new.
pub(super) const MAX_ERRORS: usize = 100;

/// How much of a wrong value an error repeats.
const MAX_SHOWN: usize = 80;

/// Checks one layer. Problems pile up in `errors` so that all of them are reported.
pub(super) struct Check<'a> {
    pub(super) source: Source<'a>,
    /// The layers below, merged: what an untrusted file may only tighten.
    pub(super) below: &'a Node,
    pub(super) errors: &'a mut Vec<ConfigError>,
    pub(super) held: &'a mut Vec<Held>,
}

impl Check<'_> {
    /// A whole file.
    pub(super) fn file(&mut self, sections: &[&Key], table: &DeTable<'_>) -> Node {
        self.table(sections, Reach::Anyone, &mut KeyPath::default(), table)
    }

    /// The value of one key. `reach` is the tightest of the keys above.
    pub(super) fn value(
        &mut self,
        schema: &Schema,
        reach: Reach,
        path: &mut KeyPath,
        origin: Origin,
        value: &DeValue<'_>,
    ) -> Option<Node> {
        match (schema, value) {
            (Schema::Table(keys), DeValue::Table(table)) => {
                let keys: Vec<&Key> = keys.iter().collect();
                Some(self.table(&keys, reach, path, table))
            }
            (Schema::Map(of), DeValue::Table(table)) => Some(self.map(of, reach, path, table)),
            (Schema::Any, DeValue::Table(table)) => Some(self.map(&Schema::Any, reach, path, table)),
            _ => self.leaf(schema, reach, path, origin, value),
        }
    }

    fn table(&mut self, keys: &[&Key], reach: Reach, path: &mut KeyPath, table: &DeTable<'_>) -> Node {
        let mut nodes = BTreeMap::new();
        for (name, value) in table.iter() {
            let origin = self.source.origin(name.span().start);
            path.push(name.get_ref());
            match keys.iter().find(|key| key.name == name.get_ref()) {
                Some(key) => {
                    let reach = tighter(reach, key.reach);
                    if let Some(node) = self.value(&key.schema, reach, path, origin, value.get_ref()) {
                        nodes.insert(name.get_ref().to_string(), node);
                    }
                }
                None if self.errors.len() < MAX_ERRORS => self.errors.push(unknown(keys, path, origin)),
                None => {}
            }
            path.pop();
        }
        Node::Table(nodes)
    }

    fn map(&mut self, of: &Schema, reach: Reach, path: &mut KeyPath, table: &DeTable<'_>) -> Node {
        let mut nodes = BTreeMap::new();
        for (name, value) in table.iter() {
            let origin = self.source.origin(name.span().start);
            path.push(name.get_ref());
            if let Some(node) = self.value(of, reach, path, origin, value.get_ref()) {
                nodes.insert(name.get_ref().to_string(), node);
            }
            path.pop();
        }
        Node::Table(nodes)
    }

    fn leaf(
        &mut self,
        schema: &Schema,
        reach: Reach,
        path: &mut KeyPath,
        origin: Origin,
        value: &DeValue<'_>,
    ) -> Option<Node> {
        let mut reach = reach;
        let mut value = self.convert(schema, &mut reach, path, &origin, value)?;
        if reach == Reach::Extend {
            value = self.extended(path, value);
        }
        if let Some(reason) = self.reason_to_hold(reach, path, &value) {
            self.held.push(Held { key: path.clone(), origin, reason });
            return None;
        }
        Some(Node::Leaf { value, origin, secret: schema.holds_secret() })
    }

    fn reason_to_hold(&mut self, reach: Reach, path: &KeyPath, value: &toml::Value) -> Option<HeldReason> {
        match reach {
            Reach::Anyone | Reach::Extend => None,
            Reach::Trusted => (!self.source.is_trusted()).then_some(HeldReason::NeedsTrust),
            Reach::Tighten(order) => {
                let place = |word: &str| order.iter().position(|choice| *choice == word);
                let to = plain(value);
                let from = self.below.find(path).map(|node| plain(&node.to_value()));
                // With nothing in force only the tightest choice is certain to loosen nothing.
                let limit = from.as_deref().map_or(Some(0), place);
                let tightens = matches!((place(&to), limit), (Some(to), Some(limit)) if to <= limit);
                (!tightens && !self.source.is_trusted()).then_some(HeldReason::Loosens { from, to })
            }
        }
    }

    /// What is already in force, and behind it what an untrusted file adds.
    fn extended(&mut self, path: &KeyPath, value: toml::Value) -> toml::Value {
        let below = self.below.find(path).map(Node::to_value);
        match (below, value) {
            (Some(toml::Value::Array(mut all)), toml::Value::Array(added)) if !self.source.is_trusted() => {
                all.extend(added.into_iter().filter(|item| !all.contains(item)).collect::<Vec<_>>());
                toml::Value::Array(all)
            }
            (_, value) => value,
        }
    }

    /// A value as plain TOML. A table inside a list is no place to hold single keys in, so `reach` becomes
    /// that of its most restricted key and decides about the whole list.
    fn convert(
        &mut self,
        schema: &Schema,
        reach: &mut Reach,
        path: &mut KeyPath,
        origin: &Origin,
        value: &DeValue<'_>,
    ) -> Option<toml::Value> {
        let converted = match (schema, value) {
            (Schema::Text | Schema::Secret | Schema::Any, DeValue::String(text)) => {
                toml::Value::from(text.as_ref())
            }
            (Schema::Choice(choices), DeValue::String(text)) => {
                if !choices.contains(&text.as_ref()) {
                    let (key, value) = (path.clone(), text.chars().take(MAX_SHOWN).collect());
                    self.errors.push(ConfigError::WrongChoice {
                        key,
                        origin: origin.clone(),
                        value,
                        choices,
                    });
                    return None;
                }
                toml::Value::from(text.as_ref())
            }
            (Schema::Duration, DeValue::String(text)) if text.parse::<HumanDuration>().is_ok() => {
                toml::Value::from(text.as_ref())
            }
            (Schema::Duration, DeValue::String(_)) => {
                return self.wrong_type(schema, path, origin, "other text");
            }
            (Schema::Bool | Schema::Any, DeValue::Boolean(value)) => toml::Value::from(*value),
            (Schema::Integer { min, max }, DeValue::Integer(number)) => {
                let value = i64::from_str_radix(number.as_str(), number.radix()).ok();
                match value.filter(|value| (min..=max).contains(&value)) {
                    Some(value) => toml::Value::from(value),
                    None => {
                        let (key, value) = (path.clone(), number.to_string());
                        let (origin, min, max) = (origin.clone(), *min, *max);
                        self.errors.push(ConfigError::OutOfRange { key, origin, value, min, max });
                        return None;
                    }
                }
            }
            (Schema::Number | Schema::Any, DeValue::Integer(number)) => {
                match i64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(value) => toml::Value::from(value),
                    Err(_) => return self.wrong_type(schema, path, origin, "such a large number"),
                }
            }
            (Schema::Number | Schema::Any, DeValue::Float(number)) => match number.as_str().parse::<f64>() {
                Ok(value) => toml::Value::from(value),
                Err(_) => return self.wrong_type(schema, path, origin, "such a number"),
            },
            (Schema::Any, DeValue::Datetime(time)) => toml::Value::from(*time),
            (Schema::List(of), DeValue::Array(items)) => self.list(of, reach, path, origin, items.iter())?,
            (Schema::Any, DeValue::Array(items)) => {
                self.list(&Schema::Any, reach, path, origin, items.iter())?
            }
            (Schema::Table(keys), DeValue::Table(table)) => self.inner_table(keys, reach, path, table)?,
            (Schema::Map(of), DeValue::Table(table)) => self.inner_map(of, reach, path, table)?,
            (Schema::Any, DeValue::Table(table)) => self.inner_map(&Schema::Any, reach, path, table)?,
            (_, other) => return self.wrong_type(schema, path, origin, found(other)),
        };
        Some(converted)
    }

    fn list<'v>(
        &mut self,
        of: &Schema,
        reach: &mut Reach,
        path: &mut KeyPath,
        origin: &Origin,
        items: impl Iterator<Item = &'v Spanned<DeValue<'v>>>,
    ) -> Option<toml::Value> {
        // Every item is looked at before giving up, so that every problem is reported.
        let items: Vec<_> = items
            .map(|item| {
                let line = self.source.origin(item.span().start).line.or(origin.line);
                let origin = Origin { line, ..origin.clone() };
                self.convert(of, reach, path, &origin, item.get_ref())
            })
            .collect();
        items.into_iter().collect::<Option<Vec<_>>>().map(toml::Value::Array)
    }

    fn inner_table(
        &mut self,
        keys: &[Key],
        reach: &mut Reach,
        path: &mut KeyPath,
        table: &DeTable<'_>,
    ) -> Option<toml::Value> {
        let mut values = Some(toml::Table::new());
        for (name, value) in table.iter() {
            let origin = self.source.origin(name.span().start);
            path.push(name.get_ref());
            let value = match keys.iter().find(|key| key.name == name.get_ref()) {
                Some(key) => {
                    if key.reach != Reach::Anyone {
                        *reach = Reach::Trusted;
                    }
                    self.convert(&key.schema, reach, path, &origin, value.get_ref())
                }
                None => {
                    let keys: Vec<&Key> = keys.iter().collect();
                    self.errors.push(unknown(&keys, path, origin));
                    None
                }
            };
            path.pop();
            add(&mut values, name.get_ref(), value);
        }
        values.map(toml::Value::Table)
    }

    fn inner_map(
        &mut self,
        of: &Schema,
        reach: &mut Reach,
        path: &mut KeyPath,
        table: &DeTable<'_>,
    ) -> Option<toml::Value> {
        let mut values = Some(toml::Table::new());
        for (name, value) in table.iter() {
            let origin = self.source.origin(name.span().start);
            path.push(name.get_ref());
            let value = self.convert(of, reach, path, &origin, value.get_ref());
            path.pop();
            add(&mut values, name.get_ref(), value);
        }
        values.map(toml::Value::Table)
    }

    fn wrong_type<T>(
        &mut self,
        schema: &Schema,
        path: &KeyPath,
        origin: &Origin,
        found: &'static str,
    ) -> Option<T> {
        let (key, origin, expected) = (path.clone(), origin.clone(), schema.expected());
        self.errors.push(ConfigError::WrongType { key, origin, expected, found });
        None
    }
}

/// Adds to a table unless something of it failed.
fn add(values: &mut Option<toml::Table>, name: &str, value: Option<toml::Value>) {
    match (values.as_mut(), value) {
        (Some(table), Some(value)) => {
            table.insert(name.to_owned(), value);
        }
        _ => *values = None,
    }
}

/// Trust asked for above is asked for below; otherwise the nearer key decides.
pub(super) fn tighter(above: Reach, own: Reach) -> Reach {
    match (above, own) {
        (Reach::Trusted, _) => Reach::Trusted,
        (above, Reach::Anyone) => above,
        (_, own) => own,
    }
}

pub(super) fn unknown(keys: &[&Key], path: &KeyPath, origin: Origin) -> ConfigError {
    let (last, parents) = match path.parts().split_last() {
        Some((last, parents)) => (last.as_str(), parents),
        None => ("", [].as_slice()),
    };
    let near = nearest(last, keys.iter().map(|key| key.name.to_owned()), 1).pop();
    let nearest = near.map(|name| parents.iter().cloned().chain([name]).collect());
    ConfigError::UnknownKey { key: path.clone(), origin, nearest }
}

fn plain(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn found(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
