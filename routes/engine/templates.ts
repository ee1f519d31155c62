/**
 * The templates as the service shows them.
 *
 * @module
 */
import { InputError } from "../../src/errors.ts";
import type { JobSpec } from "../../src/workload/job_spec_types.ts";
import type { Template } from "../../src/workload/template.ts";
import { jobSpecFromTemplate, TEMPLATES } from "../../src/workload/templates.ts";
import { HttpError } from "../problem.ts";

/** All templates, without their code. */
export const LISTED_TEMPLATES: Omit<Template, "build">[] = TEMPLATES.map(
  ({ name, description, parameters }) => ({ name, description, parameters }),
);

/** The job spec of a template at its defaults. */
export function templateJobSpec(name: string): JobSpec {
  try {
    return jobSpecFromTemplate(name).spec;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new HttpError(404, error.code, error.message, { parameters: error.parameters });
  }
}
