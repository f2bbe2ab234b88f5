use protocol::*;

use super::*;
use crate::store::Store;
use crate::writer::open::Opened;

#[test]
fn an_index_that_grew_is_the_one_that_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let now = Timestamp::from_millis(1_769_351_452_000);
    let session = SessionId::new(now, 1);
    let start = SessionStart {
        session: session.clone(),
        cwd: "/".to_owned(),
        agent: "native".into(),
        model: None,
        mode: Mode::Ask,
        title: None,
        forked_from: None,
        covey: String::new(),
    };
    let Opened { mut writer, mut view, .. } = store.create(start, now).unwrap();
    for turn in 0..40 {
        let id = TurnId::new(format!("t{turn}"));
        let parent = (turn % 3 == 1).then(|| TurnId::new(format!("t{}", turn - 1)));
        let start = TurnStart {
            parent,
            agent: "native".into(),
            model: None,
            mode: Mode::Ask,
            limits: None,
            attended: None,
        };
        let mut bodies = vec![(Some(id.clone()), EventBody::TurnStart(start))];
        let text = "x".repeat(700);
        bodies.extend(
            (0..60)
                .map(|_| (None, EventBody::Notice(Notice { level: NoticeLevel::Info, text: text.clone() }))),
        );
        let end =
            TurnEnd { stop: Stop::Done, cause: None, usage: Usage::default(), steps: 1, duration_ms: 1 };
        if turn % 5 != 0 {
            bodies.push((Some(id), EventBody::TurnEnd(end)));
        }
        for event in writer.append(bodies, now).unwrap() {
            view.apply(&event);
        }
        match turn % 7 {
            0 => writer.checkpoint(&view).unwrap(),
            3 => {
                drop(writer);
                Opened { writer, view, .. } = store.open_writer(&session, now).unwrap();
            }
            _ => {}
        }
    }
    drop(writer);

    let log = Arc::new(File::open(store.dir(&session).join("events.jsonl")).unwrap());
    let (grown, _) = Index::load(&store.dir(&session).join("index"), &session, &log).unwrap();
    let mut anew = Index::default();
    anew.extend(&log).unwrap();
    anew.forget_pending();
    assert_eq!(grown, anew);
    assert!(grown.marks.len() >= 10, "{}", grown.marks.len());
    assert_eq!(grown.upto, log.metadata().unwrap().len());
    assert_eq!(grown.turns().iter().filter(|turn| turn.last.is_none()).count(), 8);

    // A batch that was only half written when the process died does not count, and costs no more than itself.
    let path = store.dir(&session).join("index");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 30]).unwrap();
    let (mut shorter, _) = Index::load(&path, &session, &log).unwrap();
    assert!(shorter.upto > 0 && shorter.upto < grown.upto);
    shorter.extend(&log).unwrap();
    shorter.forget_pending();
    assert_eq!(shorter, grown);
}
