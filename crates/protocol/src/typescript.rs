//! The same vocabulary for TypeScript, written to `packages/protocol/src/generated/` by `cargo xtask codegen`.

use ts_rs::{Config, TS};

use crate::{
    EventBody, HostAccepted, HostAnswer, HostOffer, HostRequest, ListChange, Op, Receipt, Reply, Request,
    SessionView,
};

/// The whole generated module, in a steady order.
pub fn typescript() -> String {
    let config = Config::default();
    let mut declarations = std::collections::BTreeMap::new();
    collect::<EventBody>(&config, &mut declarations);
    collect::<Op>(&config, &mut declarations);
    collect::<Receipt>(&config, &mut declarations);
    collect::<Request>(&config, &mut declarations);
    collect::<Reply>(&config, &mut declarations);
    collect::<ListChange>(&config, &mut declarations);
    collect::<SessionView>(&config, &mut declarations);
    collect::<HostOffer>(&config, &mut declarations);
    collect::<HostAccepted>(&config, &mut declarations);
    collect::<HostRequest>(&config, &mut declarations);
    collect::<HostAnswer>(&config, &mut declarations);

    let mut module = String::from(
        "// Generated from crates/protocol by `cargo xtask codegen`. Do not edit.\n\n\
         /** A session's record: the envelope and, beside it, the fields of its type. */\n\
         export type Event = { v: number, seq: number, ts: Timestamp, turn?: TurnId } & EventBody;\n",
    );
    for declaration in declarations.values() {
        module.push('\n');
        module.push_str(declaration);
        module.push('\n');
    }
    module
}

type Declarations = std::collections::BTreeMap<String, String>;

fn collect<T: TS + 'static>(config: &Config, declarations: &mut Declarations) {
    struct Visitor<'a>(&'a Config, &'a mut Declarations);
    impl ts_rs::TypeVisitor for Visitor<'_> {
        fn visit<T: TS + 'static + ?Sized>(&mut self) {
            declare::<T>(self.0, self.1);
        }
    }
    fn declare<T: TS + 'static + ?Sized>(config: &Config, declarations: &mut Declarations) {
        // Only named types of ours have a place to be exported to.
        if T::output_path().is_none() || declarations.contains_key(&T::ident(config)) {
            return;
        }
        let docs = T::docs().unwrap_or_default();
        declarations.insert(T::ident(config), format!("{docs}export {}", T::decl(config)));
        T::visit_dependencies(&mut Visitor(config, declarations));
    }
    declare::<T>(config, declarations);
}
