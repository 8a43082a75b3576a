/**
 * The widget's style sheet, with the colours of the console's tokens. Important declarations of a shadow root win over
 * the declarations of the page around it.
 */
export const STYLES = `
:host {
  all: initial !important;
  color-scheme: light dark !important;
  display: block !important;
  inset: auto 20px 20px auto !important;
  position: fixed !important;
  z-index: 2147483647 !important;
}
:host([data-theme="light"]) { color-scheme: light !important; }
:host([data-theme="dark"]) { color-scheme: dark !important; }
:host([data-position="left"]) { inset: auto auto 20px 20px !important; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
.button, .leave, .notice {
  font: 500 15px/1.4 ui-sans-serif, system-ui, "Segoe UI", sans-serif;
}
.button {
  background: var(--accent, light-dark(#0b6e5f, #57d3b9));
  border: 0;
  border-radius: 99px;
  box-shadow: 0 1px 3px rgb(0 0 0 / .2), 0 8px 24px rgb(0 0 0 / .16);
  color: var(--accent-ink, light-dark(#fff, #06231e));
  cursor: pointer;
  display: block;
  margin-left: auto;
  max-width: calc(100vw - 40px);
  min-height: 48px;
  padding: 12px 22px;
}
:host([data-position="left"]) .button { margin-left: 0; }
.button:hover { background: var(--accent-hover, light-dark(#095c50, #74dec8)); }
:focus-visible { outline: 3px solid light-dark(#191c1b, #eceeed); outline-offset: 3px; }
.panel {
  background: light-dark(#fdfdfc, #121413);
  border: 1px solid light-dark(#cfcfc8, #3d4441);
  border-radius: 14px;
  box-shadow: 0 2px 6px rgb(0 0 0 / .08), 0 24px 64px rgb(0 0 0 / .22);
  display: grid;
  height: min(640px, calc(100dvh - 108px));
  margin-bottom: 12px;
  overflow: hidden;
  place-items: center;
  width: min(400px, calc(100vw - 40px));
}
iframe {
  border: 0;
  color-scheme: inherit;
  grid-area: 1 / 1;
  height: 100%;
  visibility: hidden;
  width: 100%;
}
[data-state="unavailable"] { height: 180px; }
[data-state="ready"] iframe { visibility: visible; }
[data-state="ready"] :is(.notice, .leave) { display: none; }
.notice {
  color: light-dark(#565d5a, #a3aca8);
  grid-area: 1 / 1;
  margin: 0;
  padding: 0 24px;
  text-align: center;
}
.leave {
  align-self: end;
  background: none;
  border: 1px solid light-dark(#8b918e, #6c7571);
  border-radius: 7px;
  color: light-dark(#191c1b, #eceeed);
  cursor: pointer;
  grid-area: 1 / 1;
  margin-bottom: 24px;
  min-height: 36px;
  padding: 6px 16px;
}
@media (max-width: 480px) {
  :host([data-open]) { inset: 0 !important; }
  :host([data-open]) .button { display: none; }
  .panel {
    border: 0;
    border-radius: 0;
    height: 100dvh;
    margin: 0;
    width: 100vw;
  }
}`;
