//! Soon.

pub(super) fn write(
    _reader: &mut crate::Reader,
    _out: &mut dyn std::io::Write,
) -> Result<(), super::ExportError> {
    Ok(())
}
