"""The supported operations of the Batch REST service: method, path, name, then parameters.

They are those of api-version 2025-06-01, and the list of node agents, which supported images replaced in 2019-06-01.
The usage of pools is gone in 2026-10-01.
`if` stands for conditional headers, `dated` for the two with dates, `paged` for maxresults and a skip token. The rest
are query parameters besides api-version and timeout.
"""

ROUTES = """
GET /applications list_applications paged
GET /applications/{applicationId} get_application
GET /poolusagemetrics list_pool_usage_metrics paged startTime endtime $filter
POST /pools create_pool
GET /pools list_pools paged $filter $select $expand
DELETE /pools/{poolId} delete_pool if
HEAD /pools/{poolId} pool_exists if
GET /pools/{poolId} get_pool if $select $expand
PATCH /pools/{poolId} update_pool if
POST /pools/{poolId}/disableautoscale disable_pool_auto_scale
POST /pools/{poolId}/enableautoscale enable_pool_auto_scale if
POST /pools/{poolId}/evaluateautoscale evaluate_pool_auto_scale
POST /pools/{poolId}/resize resize_pool if
POST /pools/{poolId}/stopresize stop_pool_resize if
POST /pools/{poolId}/updateproperties replace_pool_properties
POST /pools/{poolId}/removenodes remove_nodes if
GET /supportedimages list_supported_images paged $filter
GET /nodeagentskus list_node_agent_skus paged $filter
GET /nodecounts list_pool_node_counts paged $filter
DELETE /jobs/{jobId} delete_job if force
GET /jobs/{jobId} get_job if $select $expand
PATCH /jobs/{jobId} update_job if
PUT /jobs/{jobId} replace_job if
POST /jobs/{jobId}/disable disable_job if
POST /jobs/{jobId}/enable enable_job if
POST /jobs/{jobId}/terminate terminate_job if force
POST /jobs create_job
GET /jobs list_jobs paged $filter $select $expand
GET /jobschedules/{jobScheduleId}/jobs list_jobs_from_schedule paged $filter $select $expand
GET /jobs/{jobId}/jobpreparationandreleasetaskstatus list_job_preparation_and_release_task_status paged $filter $select
GET /jobs/{jobId}/taskcounts get_job_task_counts
HEAD /jobschedules/{jobScheduleId} job_schedule_exists if
DELETE /jobschedules/{jobScheduleId} delete_job_schedule if force
GET /jobschedules/{jobScheduleId} get_job_schedule if $select $expand
PATCH /jobschedules/{jobScheduleId} update_job_schedule if
PUT /jobschedules/{jobScheduleId} replace_job_schedule if
POST /jobschedules/{jobScheduleId}/disable disable_job_schedule if
POST /jobschedules/{jobScheduleId}/enable enable_job_schedule if
POST /jobschedules/{jobScheduleId}/terminate terminate_job_schedule if force
POST /jobschedules create_job_schedule
GET /jobschedules list_job_schedules paged $filter $select $expand
POST /jobs/{jobId}/tasks create_task
GET /jobs/{jobId}/tasks list_tasks paged $filter $select $expand
POST /jobs/{jobId}/addtaskcollection create_task_collection
DELETE /jobs/{jobId}/tasks/{taskId} delete_task if
GET /jobs/{jobId}/tasks/{taskId} get_task if $select $expand
PUT /jobs/{jobId}/tasks/{taskId} replace_task if
GET /jobs/{jobId}/tasks/{taskId}/subtasksinfo list_subtasks $select
POST /jobs/{jobId}/tasks/{taskId}/terminate terminate_task if
POST /jobs/{jobId}/tasks/{taskId}/reactivate reactivate_task if
DELETE /jobs/{jobId}/tasks/{taskId}/files/{filePath} delete_task_file recursive
GET /jobs/{jobId}/tasks/{taskId}/files/{filePath} download_task_file dated
HEAD /jobs/{jobId}/tasks/{taskId}/files/{filePath} get_task_file_properties dated
GET /jobs/{jobId}/tasks/{taskId}/files list_task_files paged $filter recursive
POST /pools/{poolId}/nodes/{nodeId}/users create_node_user
DELETE /pools/{poolId}/nodes/{nodeId}/users/{userName} delete_node_user
PUT /pools/{poolId}/nodes/{nodeId}/users/{userName} replace_node_user
GET /pools/{poolId}/nodes/{nodeId} get_node $select
POST /pools/{poolId}/nodes/{nodeId}/reboot reboot_node
POST /pools/{poolId}/nodes/{nodeId}/start start_node
POST /pools/{poolId}/nodes/{nodeId}/reimage reimage_node
POST /pools/{poolId}/nodes/{nodeId}/deallocate deallocate_node
POST /pools/{poolId}/nodes/{nodeId}/disablescheduling disable_node_scheduling
POST /pools/{poolId}/nodes/{nodeId}/enablescheduling enable_node_scheduling
GET /pools/{poolId}/nodes/{nodeId}/remoteloginsettings get_node_remote_login_settings
POST /pools/{poolId}/nodes/{nodeId}/uploadbatchservicelogs upload_node_logs
GET /pools/{poolId}/nodes list_nodes paged $filter $select
GET /pools/{poolId}/nodes/{nodeId}/extensions/{extensionName} get_node_extension $select
GET /pools/{poolId}/nodes/{nodeId}/extensions list_node_extensions paged $select
DELETE /pools/{poolId}/nodes/{nodeId}/files/{filePath} delete_node_file recursive
GET /pools/{poolId}/nodes/{nodeId}/files/{filePath} download_node_file dated
HEAD /pools/{poolId}/nodes/{nodeId}/files/{filePath} get_node_file_properties dated
GET /pools/{poolId}/nodes/{nodeId}/files list_node_files paged $filter recursive
"""
