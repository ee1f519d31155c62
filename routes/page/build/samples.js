// Made by `deno task build:page` with Deno 2.9.6; not to be edited.
export const SAMPLES = {
};
