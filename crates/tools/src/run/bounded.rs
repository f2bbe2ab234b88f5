//! The beginning and the end of something long.

#[cfg(test)]
mod tests;

/// Keeps the first and the last bytes of what goes through, whatever its length.
pub(crate) struct Bounded {
    /// How much of each end is kept.
    each: usize,
    head: Vec<u8>,
    /// The last bytes after the head; at least `each` of them, when there were as many.
    tail: Vec<u8>,
    total: u64,
}

impl Bounded {
    pub(crate) fn new(each: usize) -> Self {
        Self { each, head: Vec::new(), tail: Vec::new(), total: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let first = bytes.len().min(self.each - self.head.len());
        self.head.extend_from_slice(&bytes[..first]);
        let rest = &bytes[first..];
        if rest.len() >= self.each {
            self.tail.clear();
            self.tail.extend_from_slice(&rest[rest.len() - self.each..]);
            return;
        }
        // Moving the tail is put off until there is twice as much, so that each byte moves about once.
        if self.tail.len() + rest.len() > 2 * self.each {
            self.tail.drain(..self.tail.len() - self.each);
        }
        self.tail.extend_from_slice(rest);
    }

    /// How much went through.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Whether something in the middle may be gone.
    pub(crate) fn is_cut(&self) -> bool {
        self.would_be_cut(0)
    }

    /// Whether it would be with this many bytes more.
    pub(crate) fn would_be_cut(&self, more: usize) -> bool {
        self.total + more as u64 > 2 * self.each as u64
    }

    /// The two ends as text, with `gap` between them saying how many bytes are missing. Lines stay whole where they can.
    pub(crate) fn text(&self, gap: impl FnOnce(u64) -> String) -> String {
        if !self.is_cut() {
            let whole = [self.head.as_slice(), self.tail.as_slice()].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let head = whole_lines_before(&self.head);
        let tail = whole_lines_after(&self.tail[self.tail.len().saturating_sub(self.each)..]);
        let missing = self.total - (head.len() + tail.len()) as u64;
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        let line_break = if head.ends_with('\n') { "" } else { "\n" };
        format!("{head}{line_break}{}\n{tail}", gap(missing))
    }

    /// The last bytes: no more than `most`, and no more than are kept of the end.
    pub(crate) fn last(&self, most: usize) -> Vec<u8> {
        if self.tail.len() >= most {
            return self.tail[self.tail.len() - most..].to_vec();
        }
        if self.is_cut() {
            return self.tail.clone();
        }
        let from_head = (most - self.tail.len()).min(self.head.len());
        [&self.head[self.head.len() - from_head..], &self.tail].concat()
    }
}

/// Cuts after the last line break, unless that would cost more than half.
fn whole_lines_before(bytes: &[u8]) -> &[u8] {
    match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(last) if last >= bytes.len() / 2 => &bytes[..=last],
        _ => bytes,
    }
}

fn whole_lines_after(bytes: &[u8]) -> &[u8] {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(first) if first < bytes.len() / 2 => &bytes[first + 1..],
        _ => bytes,
    }
}
