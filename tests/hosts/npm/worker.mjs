// The package in a Worker: the library, and the service, whose kernel comes compiled by the condition `workerd`.
import { jobSpecFromTemplate, whatIf, workloadFromJobSpec } from "@sparkmem/sparkmem";
import { createApp } from "@sparkmem/sparkmem/service";

const app = createApp();

export default {
  fetch(request) {
    if (new URL(request.url).pathname !== "/") return app.fetch(request);
    const { spec } = jobSpecFromTemplate("cached-iterative");
    const { predicted } = whatIf(workloadFromJobSpec(spec), null, { conf: { "spark.executor.memory": "2g" } });
    return Response.json(predicted.storage);
  },
};
