/** The style sheet of `/docs`. */
export const DOCS_CSS = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem; }
h1 small { font-weight: normal; opacity: 0.7; }
section { border-top: 1px solid var(--line); margin-top: 2rem; }
nav ul { list-style: none; padding: 0; }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid var(--line); border-radius: 0.375rem; }
code { font: 0.9em/1.45 ui-monospace, monospace; }
dt { font-weight: 600; }
dd { margin: 0 0 0.5rem 1.5rem; }
summary { cursor: pointer; padding: 0.25rem 0; }
:target { scroll-margin-top: 1rem; }
`;
