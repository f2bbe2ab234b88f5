//! What runs through pipes.

/// What comes out of one command and into the next.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Flow {
    Nothing,
    /// Exactly this text.
    Text(String),
    /// Names of files that were found.
    Listed,
    /// The content of a file of the project, as it is.
    File,
    /// Something that was made on the way.
    Data,
    /// Something from another machine, or decoded: what a hidden command would come as.
    Hidden(&'static str),
}

impl Flow {
    /// Both, one after the other.
    pub(super) fn joined(&self, other: &Flow) -> Flow {
        match (self, other) {
            (Self::Hidden(why), _) | (_, Self::Hidden(why)) => Self::Hidden(why),
            (Self::Nothing, flow) | (flow, Self::Nothing) => flow.clone(),
            (Self::Listed, Self::Listed) => Self::Listed,
            _ => Self::Data,
        }
    }

    /// After a program that picks or orders lines.
    pub(super) fn picked(&self) -> Flow {
        match self {
            Self::Listed => Self::Listed,
            Self::Hidden(why) => Self::Hidden(why),
            Self::Nothing => Self::Nothing,
            _ => Self::Data,
        }
    }
}
