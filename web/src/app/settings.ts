import { remembered } from "./store";

/** What this browser is told about how to look. */
export const setting = {
  diff: remembered<"unified" | "split">("covey.diff", "unified"),
  theme: remembered<"system" | "light" | "dark">("covey.theme", "system"),
  thoughts: remembered<boolean>("covey.thoughts", false),
  panel: remembered<boolean>("covey.panel", true),
  notify: remembered<boolean>("covey.notify", false),
};

function showTheme() {
  const theme = setting.theme.get();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function followTheme() {
  showTheme();
  setting.theme.follow(showTheme);
}
