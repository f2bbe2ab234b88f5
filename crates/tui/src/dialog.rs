//! Things that ask the person something, or let them choose.

mod panel;
mod permission;
mod picker;

pub(crate) use panel::{command_list, context_sheet, cost_sheet, key_list, report_sheet, table_sheet};
pub(crate) use permission::{Answered, PermissionDialog};
pub(crate) use picker::{Choice, Picked, Picker};
