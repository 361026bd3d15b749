// A tour of the emulator by the npm packages @azure/batch 10.2.0 and azure-batch 9.0.0: ADDRESS ACCOUNT KEY, the folder
// in which one of them lies, and its name.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const [address, account, key, folder, name] = process.argv.slice(2);
const load = createRequire(path.join(folder, "package.json"));
const batch = load(name);
const Client = batch.BatchServiceClient ?? batch.ServiceClient;
const Credentials = batch.BatchSharedKeyCredentials ?? batch.SharedKeyCredentials;
const client = new Client(new Credentials(account, key), address);
const nodes = client.computeNode ?? client.computeNodeOperations;
const span = client.computeNode ? (text) => text : (text) => load("moment").duration(text);
const MANY = 250;

async function until(isSo) {
  for (let tries = 0; tries < 300; tries++) {
    if (await isSo()) return;
    await sleep(200);
  }
  throw new Error(`never so: ${isSo}`);
}

async function pages(first, next) {
  const found = [...first];
  let link = first.odatanextLink;
  while (link) {
    const page = await next(link);
    found.push(...page);
    link = page.odatanextLink;
  }
  return found;
}

const code = (act) => act().then(() => "no error", (error) => error.code ?? error.body?.code);

// The older package gives the stream of a promise too late to be read.
function text(options = {}) {
  return new Promise((resolve, reject) => {
    const gather = (stream) => {
      const parts = [];
      stream.on("data", (part) => parts.push(part));
      stream.on("end", () => resolve(Buffer.concat(parts).toString()));
    };
    const asked = ["job", "bad", "stdout.txt", options];
    if (client.computeNode) client.file.getFromTask(...asked).then((answer) => gather(answer.readableStreamBody), reject);
    else client.file.getFromTask(...asked, (error, stream) => (error ? reject(error) : gather(stream)));
  });
}

const steps = {
  async pools() {
    const imageReference = { publisher: "canonical", offer: "ubuntu-24_04-lts", sku: "server" };
    const virtualMachineConfiguration = { imageReference, nodeAgentSKUId: "batch.node.ubuntu 24.04" };
    await client.pool.add({ id: "pool", vmSize: "standard_d2s_v5", virtualMachineConfiguration, targetDedicatedNodes: 2 });
    await until(async () => (await client.pool.get("pool")).allocationState === "steady");
    assert.equal((await nodes.list("pool")).length, 2);
    await client.pool.patch("pool", { metadata: [{ name: "a", value: "b" }] });
    assert.equal((await client.pool.get("pool")).metadata[0].value, "b");
    assert.ok((await client.account.listSupportedImages()).length);
    assert.equal((await client.account.listPoolNodeCounts())[0].dedicated.total, 2);
  },
  async jobs() {
    await client.job.add({ id: "job", poolInfo: { poolId: "pool" }, priority: 5 });
    await client.job.patch("job", { priority: 7 });
    const job = await client.job.get("job");
    assert.deepEqual([job.priority, job.state, job.executionInfo.poolId], [7, "active", "pool"]);
    await client.job.disable("job", "requeue");
    await until(async () => (await client.job.get("job")).state === "disabled");
    await client.job.enable("job");
    await until(async () => (await client.job.get("job")).state === "active");
  },
  async tasks() {
    const tasks = Array.from({ length: MANY }, (_, n) => ({ id: `t${String(n).padStart(3, "0")}`, commandLine: "sleep 1" }));
    for (let start = 0; start < MANY; start += 100) {
      const added = await client.task.addCollection("job", tasks.slice(start, start + 100));
      assert.ok(added.value.every((row) => row.status.toLowerCase() === "success"));
    }
    await client.task.add("job", { id: "bad", commandLine: "echo hello; sleep 1; exit 3" });
    await until(async () => (await client.task.get("job", "bad")).state === "completed");
    assert.equal((await client.task.get("job", "bad")).executionInfo.failureInfo.code, "FailureExitCode");
    await client.task.reactivate("job", "bad");
    const counts = await client.job.getTaskCounts("job");
    const taskCounts = counts.taskCounts ?? counts;
    assert.equal(taskCounts.active + taskCounts.running + taskCounts.completed, MANY + 1);
  },
  async lists() {
    const taskListOptions = { maxResults: 40, select: "id,state" };
    const first = await client.task.list("job", { taskListOptions });
    const found = await pages(first, (link) => client.task.listNext(link));
    assert.equal(new Set(found.map((task) => task.id)).size, MANY + 1);
    const filtered = await client.task.list("job", { taskListOptions: { filter: "startswith(id,'t00') and id ne 't001'" } });
    assert.equal(filtered.length, 9);
    assert.deepEqual((await client.job.list({ jobListOptions: { filter: "state eq 'active'" } })).map((job) => job.id), ["job"]);
    assert.equal((await client.application.list()).length, 0);
  },
  async schedules() {
    const jobSpecification = { poolInfo: { poolId: "pool" } };
    await client.jobSchedule.add({ id: "daily", schedule: { recurrenceInterval: span("P1D") }, jobSpecification });
    await until(async () => (await client.job.listFromJobSchedule("daily")).some((job) => job.id === "daily:job-1"));
    await client.jobSchedule.disable("daily");
    await client.jobSchedule.enable("daily");
    await client.jobSchedule.deleteMethod("daily");
    await until(async () => (await client.jobSchedule.list()).length === 0);
  },
  async refusals() {
    assert.equal(await code(() => client.job.get("nothing")), "JobNotFound");
    assert.equal(await code(() => client.task.add("job", { id: "t000", commandLine: "x" })), "TaskExists");
    const jobListOptions = { filter: "priority eq 1" };
    assert.equal(await code(() => client.job.list({ jobListOptions })), "InvalidQueryParameterValue");
    const jobDeleteMethodOptions = { ifMatch: "0x1" };
    assert.equal(await code(() => client.job.deleteMethod("job", { jobDeleteMethodOptions })), "ConditionNotMet");
  },
  async files() {
    await until(async () => (await client.task.get("job", "bad")).state === "completed");
    const names = (await client.file.listFromTask("job", "bad")).map((file) => file.name);
    assert.deepEqual(names, ["stderr.txt", "stdout.txt", "wd"]);
    assert.equal(await text(), "hello\n");
    const fileGetFromTaskOptions = { ocpRange: "bytes=1-3" };
    assert.equal(await text({ fileGetFromTaskOptions }), "ell");
    const { nodeId, taskRootDirectory } = (await client.task.get("job", "bad")).nodeInfo;
    const files = await client.file.listFromComputeNode("pool", nodeId, { recursive: true });
    assert.ok(files.some((file) => file.name === `${taskRootDirectory}/stdout.txt`));
    await client.file.deleteFromTask("job", "bad", "stdout.txt");
    assert.equal((await client.file.listFromTask("job", "bad")).length, 2);
  },
  async scaling() {
    await client.pool.enableAutoScale("pool", { autoScaleFormula: "$TargetDedicatedNodes = 1", autoScaleEvaluationInterval: span("PT5M") });
    assert.ok((await client.pool.get("pool")).autoScaleRun.results.startsWith("$TargetDedicatedNodes=1;"));
    await until(async () => (await nodes.list("pool")).length === 1);
    assert.ok((await client.pool.evaluateAutoScale("pool", "n = 2; $TargetDedicatedNodes = n")).results.endsWith(";n=2"));
    const failed = await client.pool.evaluateAutoScale("pool", "$something_useless");
    assert.equal(failed.error.code, "AutoScalingFormulaEvaluationError");
    await client.pool.disableAutoScale("pool");
  },
  async deletes() {
    await client.task.deleteMethod("job", "t001");
    await client.job.terminate("job");
    await until(async () => (await client.job.get("job")).state === "completed");
    await client.job.deleteMethod("job");
    await client.pool.deleteMethod("pool");
    await until(async () => (await client.pool.list()).length + (await client.job.list()).length === 0);
  },
};

for (const [name, step] of Object.entries(steps)) {
  await step();
  console.log(`ok ${name}`);
}
