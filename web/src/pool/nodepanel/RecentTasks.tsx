// The latest tasks of a node, with their states at a time of their own, which may be earlier than the node's.

import type { Node, RecentTask } from "../../nodes/model.ts";
import { addressOfJob } from "../../routing/routes.ts";
import { Age } from "../../ui/text/Age.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { Id } from "../../ui/text/Id.tsx";

export function RecentTasks({ node }: { node: Node }) {
  const { recentTasks, recentTasksAsOf, asOf, totalTasksRun, runningTasks } = node;
  const isOlder = recentTasksAsOf !== asOf;
  const ranSince = isOlder && totalTasksRun + runningTasks > 0;
  return (
    <>
      <h4>
        Recent tasks
        {recentTasksAsOf && (
          <small>
            , as of <Age at={recentTasksAsOf} />
          </small>
        )}
      </h4>
      {recentTasks.length ? (
        <ul class="recent" data-testid="recent-tasks">
          {recentTasks.map((task) => (
            <li key={`${task.job} ${task.task}`}>
              <TaskLink account={node.account} task={task} isOlder={isOlder} />
            </li>
          ))}
        </ul>
      ) : (
        <p class="soft" data-testid="no-recent-tasks">
          {ranSince ? "No tasks were known at that time; the node has run tasks since." : "No tasks are known."}
        </p>
      )}
    </>
  );
}

interface TaskLinkProps {
  account: string;
  task: RecentTask;
  isOlder: boolean;
}

function TaskLink({ account, task: { job, task, state }, isOlder }: TaskLinkProps) {
  return (
    <>
      <Id text={task} to={addressOfJob(account, job, task)} />{" "}
      <small>
        of{" "}
        <Id text={job} to={addressOfJob(account, job)} />, {isOlder && "at that time "}
        <ExternalText text={state} />
      </small>
    </>
  );
}
