import { assertEquals, assertThrows } from "@std/assert";
import { DECODERS, eventName, isUnused } from "../../src/event_log/event_json.ts";
import { MalformedEvent } from "../../src/event_log/json_fields.ts";

const CONTEXT = { tracksUpdatedBlocks: false };
const decode = (json: Record<string, unknown>) => DECODERS[eventName(json)](json, CONTEXT);

const LEVEL = {
  "Use Disk": true,
  "Use Memory": true,
  "Deserialized": false,
  "Replication": 2,
};

Deno.test("environmentUpdate keeps Spark's properties and what tells of the Java virtual machine", () => {
  const event = decode({
    Event: "SparkListenerEnvironmentUpdate",
    "Spark Properties": { "spark.executor.memory": "1g" },
    "JVM Information": { "Java Version": "17" },
    "System Properties": { "user.name": "me", "java.version": "17.0.1" },
    "Classpath Entries": {},
  });
  assertEquals(event, {
    kind: "environmentUpdate",
    sparkProperties: { "spark.executor.memory": "1g" },
    jvmInformation: { "Java Version": "17" },
    systemProperties: { "java.version": "17.0.1" },
  });
});

Deno.test("a property called __proto__ is only a property", () => {
  const event = decode(JSON.parse(
    '{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{"__proto__":"x","spark.a":"1"}}',
  ));
  const { sparkProperties } = event as {
    sparkProperties: Record<string, string>;
  };
  assertEquals(Object.getPrototypeOf(sparkProperties), Object.prototype);
  assertEquals(Object.keys(sparkProperties), ["__proto__", "spark.a"]);
});

Deno.test("jobStart without stage infos (before 1.2) has the stage ids", () => {
  assertEquals(
    decode({
      Event: "SparkListenerJobStart",
      "Job ID": 1,
      "Stage IDs": [3, 4],
    }),
    {
      kind: "jobStart",
      jobId: 1,
      time: -1,
      stageInfos: [],
      stageIds: [3, 4],
      properties: {},
    },
  );
});

Deno.test("jobStart keeps the job's own local properties", () => {
  const event = decode({
    Event: "SparkListenerJobStart",
    "Job ID": 1,
    "Stage IDs": [],
    Properties: {
      "spark.sql.execution.id": "7",
      "spark.executor.memory": "1g",
    },
  });
  assertEquals((event as { properties: unknown }).properties, {
    "spark.sql.execution.id": "7",
  });
});

Deno.test("jobEnd tells a failure's message", () => {
  const end = (result: unknown) =>
    (decode({
      Event: "SparkListenerJobEnd",
      "Job ID": 1,
      "Completion Time": 5,
      "Job Result": result,
    }) as {
      failure: string | null;
    }).failure;
  assertEquals(end({ Result: "JobSucceeded" }), null);
  assertEquals(
    end({
      Result: "JobFailed",
      Exception: { Message: "boom", "Stack Trace": [] },
    }),
    "boom",
  );
  assertEquals(end({ Result: "JobFailed" }), "unknown reason");
  assertThrows(() => end({ Result: "JobPuzzled" }), MalformedEvent);
});

Deno.test("a stage's RDDs carry storage level, parents and the name of their scope", () => {
  const event = decode({
    Event: "SparkListenerStageCompleted",
    "Stage Info": {
      "Stage ID": 1,
      "Stage Attempt ID": 2,
      "Stage Name": "count",
      "Number of Tasks": 4,
      "RDD Info": [{
        "RDD ID": 9,
        Name: "data",
        Scope: '{"id":"1","name":"map"}',
        Callsite: "map at A.scala:1",
        "Parent IDs": [8],
        "Storage Level": LEVEL,
        "Number of Partitions": 4,
        "Number of Cached Partitions": 0,
        "Memory Size": 0,
        "Disk Size": 0,
      }],
      "Parent IDs": [0],
      Details: "",
      "Submission Time": 10,
      "Completion Time": 20,
      "Failure Reason": "no",
      Accumulables: [
        {
          ID: 1,
          Name: "number of output rows",
          Value: "12",
          Internal: true,
          "Count Failed Values": true,
          Metadata: "sql",
        },
        {
          ID: 2,
          Name: "internal.metrics.resultSize",
          Value: 7612,
          Internal: true,
        },
        { ID: 3, Name: "a list", Value: "[1, 2]", Internal: false },
      ],
    },
  });
  assertEquals(event, {
    kind: "stageCompleted",
    stageInfo: {
      stageId: 1,
      attemptId: 2,
      name: "count",
      numTasks: 4,
      rddInfos: [{
        rddId: 9,
        name: "data",
        callSite: "map at A.scala:1",
        scope: "map",
        parentIds: [8],
        storageLevel: {
          useDisk: true,
          useMemory: true,
          useOffHeap: false,
          deserialized: false,
          replication: 2,
        },
        numPartitions: 4,
        numCachedPartitions: 0,
        memorySize: 0,
        diskSize: 0,
      }],
      parentIds: [0],
      details: "",
      submissionTime: 10,
      completionTime: 20,
      failureReason: "no",
      resourceProfileId: 0,
      isShufflePushEnabled: null,
      accumulables: [
        { id: 1, name: "number of output rows", value: 12 },
        { id: 2, name: "internal.metrics.resultSize", value: 7612 },
        { id: 3, name: "a list", value: "[1, 2]" },
      ],
    },
  });
});

Deno.test("blockUpdated carries the level's flags, which count, not the sizes", () => {
  assertEquals(
    decode({
      Event: "SparkListenerBlockUpdated",
      "Block Updated Info": {
        "Block Manager ID": { "Executor ID": "1", Host: "h", Port: 1 },
        "Block ID": "rdd_1_2",
        "Storage Level": {
          "Use Disk": false,
          "Use Memory": false,
          "Deserialized": false,
          Replication: 1,
        },
        "Memory Size": 100,
        "Disk Size": 0,
      },
    }),
    {
      kind: "blockUpdated",
      blockId: "rdd_1_2",
      executorId: "1",
      storageLevel: {
        useDisk: false,
        useMemory: false,
        useOffHeap: false,
        deserialized: false,
        replication: 1,
      },
      memorySize: 100,
      diskSize: 0,
      time: null,
    },
  );
});

Deno.test("SQL events come under their package's name; an empty error is none", () => {
  const sql = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution";
  assertEquals(
    decode({
      Event: `${sql}Start`,
      executionId: 3,
      description: "count",
      time: 5,
      sparkPlanInfo: {
        nodeName: "Sort",
        simpleString: "Sort [a]",
        children: [],
        metadata: {},
        metrics: [{ name: "spill size", accumulatorId: 4, metricType: "size" }],
      },
    }),
    {
      kind: "sqlExecutionStart",
      executionId: 3,
      description: "count",
      time: 5,
      plan: {
        nodeName: "Sort",
        simpleString: "Sort [a]",
        children: [],
        metrics: [{ name: "spill size", accumulatorId: 4, metricType: "size" }],
      },
    },
  );
  const end = (errorMessage?: string) =>
    (decode({ Event: `${sql}End`, executionId: 3, time: 6, errorMessage }) as {
      errorMessage: unknown;
    }).errorMessage;
  assertEquals([end(), end(""), end("boom")], [null, null, "boom"]);
});

Deno.test("a plan deeper than Spark's own stack allows is cut, not followed", () => {
  let plan = '{"nodeName":"a","children":[]}';
  for (let i = 0; i < 20_000; i++) {
    plan = `{"nodeName":"a","children":[${plan}]}`;
  }
  const event = decode(JSON.parse(
    `{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","executionId":1,"sparkPlanInfo":${plan}}`,
  ));
  assertEquals(event.kind, "sqlExecutionStart");
});

Deno.test("fields of another type than Spark's are malformed", () => {
  for (
    const json of [
      { Event: "SparkListenerUnpersistRDD", "RDD ID": "1" },
      { Event: "SparkListenerUnpersistRDD", "RDD ID": 1.5 },
      { Event: "SparkListenerUnpersistRDD", "RDD ID": 1e300 },
      { Event: "SparkListenerUnpersistRDD" },
      { Event: "SparkListenerJobStart", "Job ID": 1, "Stage IDs": {} },
      { Event: "SparkListenerJobStart", "Job ID": 1, "Stage IDs": [1, "2"] },
      { Event: "SparkListenerStageSubmitted", "Stage Info": [] },
      { Event: "SparkListenerApplicationStart", "App Name": 1, Timestamp: 0 },
      {
        Event: "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates",
        executionId: 1,
        accumUpdates: [[1]],
      },
    ]
  ) assertThrows(() => decode(json), MalformedEvent);
  assertThrows(() => eventName({ Event: 5 }), MalformedEvent);
});

Deno.test("Spark's events without use here are known", () => {
  assertEquals(
    isUnused(
      eventName({
        Event: "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent",
      }),
    ),
    true,
  );
  assertEquals(isUnused("SparkListenerConnectOperationStarted"), true);
  assertEquals(isUnused("DBCEventLoggingListenerMetadata"), false);
});

Deno.test("numbers and amounts keep what is a number, whatever else is there", () => {
  assertEquals(
    decode({
      Event: "SparkListenerStageExecutorMetrics",
      "Executor ID": "1",
      "Stage ID": 2,
      "Executor Metrics": { JVMHeapMemory: 5, Unknown: "6" },
    }),
    { kind: "stageExecutorMetrics", executorId: "1", stageId: 2, stageAttemptId: 0, metrics: { JVMHeapMemory: 5 } },
  );
  assertEquals(
    decode({
      Event: "SparkListenerResourceProfileAdded",
      "Resource Profile Id": 1,
      "Executor Resource Requests": { cores: { Amount: 4 }, broken: 5, none: { Amount: "4" } },
    }),
    { kind: "resourceProfileAdded", id: 1, executorResources: { cores: 4 }, taskResources: {} },
  );
});
