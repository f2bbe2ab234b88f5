//! Changing one value in a config file and nothing else in it.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::load::check_typed;
use super::schema::{Key, Schema};
use super::{ConfigError, KeyPath, Layer, Origin, file};
use crate::private::{create_private_dir, final_target, write_atomic};

/// How long to wait for another process that is changing the same file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sets `key` in a config file to a value as typed, keeping comments and layout.
///
/// The value is checked against the schema first. A missing file is created, private to the person; an existing
/// one keeps its permissions and, if it is a link, stays one. Of two processes doing this at once neither loses
/// its change. A file that is not valid TOML is not touched.
pub fn set_in_file(path: &Path, key: &str, value_text: &str, sections: &[&Key]) -> Result<(), ConfigError> {
    let key: KeyPath = key.parse()?;
    let origin = Origin { layer: Layer::Flag, file: None, line: None, variable: None };
    let schema = check_typed(sections, &key, value_text, origin)?;
    let value = to_toml(&schema, &key, value_text)?;
    edit(path, |document| insert(document, &key, value))?;
    Ok(())
}

/// Takes `key` out of a config file. Says whether it was there; unknown keys can be removed too.
pub fn unset_in_file(path: &Path, key: &str) -> Result<bool, ConfigError> {
    let key: KeyPath = key.parse()?;
    // Nothing is created, not even the folder to lock, for the sake of removing something.
    if matches!(path.metadata(), Err(error) if error.kind() == std::io::ErrorKind::NotFound) {
        return Ok(false);
    }
    edit(path, |document| remove(document, &key))
}

/// Runs `change` under the lock and writes the file if it says that something changed.
fn edit(path: &Path, change: impl FnOnce(&mut DocumentMut) -> Option<bool>) -> Result<bool, ConfigError> {
    let unwritable = |source| ConfigError::Unwritable { file: path.to_owned(), source };
    let target = final_target(path).map_err(unwritable)?;
    let folder = target.parent().map(Path::to_owned).unwrap_or_default();
    create_private_dir(&folder).map_err(unwritable)?;
    let _lock = lock(&folder, &target, PATIENCE)?;
    let text = file::read(&target)?.unwrap_or_default();
    let mut document: DocumentMut = text.parse().map_err(|error| syntax_error(&target, &text, &error))?;
    let changed = change(&mut document).ok_or_else(|| ConfigError::Unreadable {
        file: target.clone(),
        reason: "a value stands where a table is needed".into(),
    })?;
    if changed {
        let permissions =
            target.metadata().map_or_else(|_| Permissions::from_mode(0o600), |data| data.permissions());
        write_atomic(&target, document.to_string().as_bytes(), permissions).map_err(unwritable)?;
    }
    Ok(changed)
}

/// Locks the folder, which leaves no lock file behind in somebody's repository.
pub(super) fn lock(folder: &Path, target: &Path, patience: Duration) -> Result<File, ConfigError> {
    let unwritable = |source| ConfigError::Unwritable { file: target.to_owned(), source };
    let folder = File::open(folder).map_err(unwritable)?;
    let deadline = Instant::now() + patience;
    loop {
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(folder),
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                return Err(ConfigError::Busy { file: target.to_owned() });
            }
            // Some network file systems do not lock folders. One person seldom edits twice at once; go on.
            Err(Errno::BADF | Errno::NOLCK | Errno::OPNOTSUPP | Errno::INVAL) => return Ok(folder),
            Err(errno) => return Err(unwritable(errno.into())),
        }
    }
}

fn to_toml(schema: &Schema, key: &KeyPath, text: &str) -> Result<Value, ConfigError> {
    match text.trim().parse::<Value>() {
        Ok(Value::String(text)) => Ok(Value::from(text.into_value())),
        _ if schema.wants_text() => Ok(Value::from(text)),
        Ok(value) => Ok(value.decorated("", "")),
        Err(_) if matches!(schema, Schema::Any) => Ok(Value::from(text)),
        Err(_) => {
            let (key, text, expected) = (key.clone(), text.to_owned(), schema.expected());
            Err(ConfigError::BadValue { key, text, expected })
        }
    }
}

/// Nothing if a value is in the way.
fn insert(document: &mut DocumentMut, key: &KeyPath, value: Value) -> Option<bool> {
    let (last, parents) = key.parts().split_last()?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    let mut inline = false;
    for name in parents {
        let item = table.entry(name).or_insert_with(|| new_table(inline));
        inline = item.is_value();
        table = item.as_table_like_mut()?;
    }
    match table.get_mut(last) {
        Some(Item::Value(old)) => {
            // The comment behind the value belongs to the key, not to the old value.
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        _ => {
            let end = if inline { take_trailing_space(table) } else { String::new() };
            table.insert(last, Item::Value(value.decorated(" ", end)));
        }
    }
    Some(true)
}

/// The space before the closing brace of an inline table, which belongs behind whatever is last.
fn take_trailing_space(table: &mut dyn TableLike) -> String {
    let Some((_, Item::Value(last))) = table.iter_mut().last() else { return String::new() };
    let space = last.decor().suffix().and_then(|suffix| suffix.as_str()).unwrap_or_default().to_owned();
    last.decor_mut().set_suffix("");
    space
}

fn new_table(inline: bool) -> Item {
    if inline {
        return Item::Value(Value::InlineTable(InlineTable::new()));
    }
    // Implicit: `[providers]` gets no header of its own when only `[providers.local]` has anything in it.
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

fn remove(document: &mut DocumentMut, key: &KeyPath) -> Option<bool> {
    let (last, parents) = key.parts().split_last()?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for name in parents {
        match table.get_mut(name).and_then(Item::as_table_like_mut) {
            Some(inner) => table = inner,
            None => return Some(false),
        }
    }
    Some(table.remove(last).is_some())
}

fn syntax_error(target: &Path, text: &str, error: &toml_edit::TomlError) -> ConfigError {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = Some(before.matches('\n').count() + 1);
    let file = Some(PathBuf::from(target).into());
    let message = error.message().lines().next().unwrap_or_default().to_owned();
    ConfigError::Syntax { origin: Origin { layer: Layer::User, file, line, variable: None }, message }
}
