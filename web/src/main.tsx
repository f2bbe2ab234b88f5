import { render } from "preact";
import { App } from "./app/app";
import { followTheme } from "./app/settings";
import { signIn } from "./app/sign_in";
import { start } from "./app/model";
import "./app/base.css";

followTheme();
render(<App />, document.getElementById("app")!);
// The token leaves the address before anything else happens.
void signIn().finally(start);
