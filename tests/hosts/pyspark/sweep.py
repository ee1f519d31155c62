"""A sweep over many event logs on a Spark cluster: spark-submit [--master ...] sweep.py SCENARIOS OUTPUT COMMAND...

SCENARIOS is a file of lines {"id", "input", "conf"}, COMMAND a filter that gives one line for each,
for example: sparkmem sweep --stdin --jobs 1
"""
import json
import shlex
import sys

from pyspark.sql import SparkSession

scenarios, output, *command = sys.argv[1:]
spark = SparkSession.builder.appName("sparkmem sweep").getOrCreate()
sc = spark.sparkContext

with open(scenarios) as file:
    lines = file.read().splitlines()
# the scenarios of one log follow each other, so that a process reads each log once
lines.sort(key=lambda line: json.loads(line)["input"])
results = (
    sc.parallelize(lines, numSlices=2 * sc.defaultParallelism)
    .pipe(shlex.join(command), checkCode=True)
    .collect()
)
with open(output, "w") as file:
    file.writelines(line + "\n" for line in results)

failed = [result for result in map(json.loads, results) if result["status"] != "succeeded"]
executors = sc._jsc.sc().getExecutorMemoryStatus().size() - 1
print(f"{len(results)} scenarios on {executors} executors, {len(failed)} of them not successful")
spark.stop()
