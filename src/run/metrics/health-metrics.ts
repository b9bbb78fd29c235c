import type { PartName } from '../../platform/process/process-part-type.ts';
import type { CatalogueReadEvent } from '../../catalogue/file/live-catalogue.ts';
import type { ScheduleCheckEvent } from '../../temporal/schedules/watch-schedules.ts';
import { type EventMetric, createOnFieldMaker } from './metric-declaration.ts';

export type HealthMetricEvent =
  | CatalogueReadEvent
  | { readonly kind: 'database_checked'; readonly part: PartName; readonly isUp: boolean }
  | { readonly kind: 'clock_checked'; readonly part: PartName; readonly offsetMs: number }
  | { readonly kind: 'temporal_checked'; readonly part: PartName; readonly isUp: boolean }
  | {
      readonly kind: 'disk_checked';
      readonly folder: string;
      readonly freeBytes: number;
      readonly sizeBytes: number;
      readonly isWritable: boolean;
    }
  | { readonly kind: 'log_lines_dropped'; readonly lines: number }
  | ScheduleCheckEvent;

const on = createOnFieldMaker<HealthMetricEvent>();

export const healthMetrics: readonly EventMetric[] = [
  {
    type: 'state',
    name: 'videogen_database_up',
    help: 'Whether the database responds, accepts writes and has the schema of this release, as of the last check',
    labels: ['of'],
    process: 'both',
    actWhen:
      '0 for 2 minutes: unavailable, read-only, or a migration is missing ([runbook](runbooks.md#videogendatabasedown))',
    on: on('database_checked', ({ part, isUp }) => [{ of: part }, isUp ? 1 : 0]),
  },
  {
    type: 'state',
    name: 'videogen_temporal_up',
    help: 'Whether Temporal responds and has the namespace, as of the last check',
    labels: ['of'],
    process: 'worker',
    actWhen: '0 for 2 minutes: unavailable, or the namespace is missing ([runbook](runbooks.md#videogentemporaldown))',
    on: on('temporal_checked', ({ part, isUp }) => [{ of: part }, isUp ? 1 : 0]),
  },
  {
    type: 'state',
    name: 'videogen_schedule_present',
    help: 'Whether the last check of this worker found or created the schedule for this task queue',
    labels: ['queue', 'schedule'],
    process: 'worker',
    actWhen: '0 for 3 minutes ([runbook](runbooks.md#videogenschedulemissing))',
    on: on('schedule_checked', ({ queue, schedule, isPresent }) => [{ queue, schedule }, isPresent ? 1 : 0]),
  },
  {
    type: 'state',
    name: 'videogen_clock_offset_seconds',
    help: "How far this machine's clock is ahead of the database's, as of the last check; negative if it is behind",
    labels: ['of'],
    process: 'both',
    actWhen: 'above 2 or below -2 for 5 minutes ([runbook](runbooks.md#videogenclockoff))',
    on: on('clock_checked', ({ part, offsetMs }) => [{ of: part }, offsetMs / 1000]),
  },
  {
    type: 'state',
    name: 'videogen_disk_free_bytes',
    help: 'Free space on the disk of this folder',
    labels: ['folder'],
    process: 'both',
    actWhen: 'below a tenth of the size ([runbook](runbooks.md#videogendiskfilling))',
    on: on('disk_checked', ({ folder, freeBytes }) => [{ folder }, freeBytes]),
  },
  {
    type: 'state',
    name: 'videogen_disk_size_bytes',
    help: 'Size of the disk of this folder',
    labels: ['folder'],
    process: 'both',
    on: on('disk_checked', ({ folder, sizeBytes }) => [{ folder }, sizeBytes]),
  },
  {
    type: 'state',
    name: 'videogen_disk_writable',
    help: 'Whether the disk of this folder has space and inodes, and accepts writes',
    labels: ['folder'],
    process: 'both',
    actWhen: '0: creates are refused with `disk_full` ([runbook](runbooks.md#videogendiskfull))',
    on: on('disk_checked', ({ folder, isWritable }) => [{ folder }, isWritable ? 1 : 0]),
  },
  {
    type: 'counter',
    name: 'videogen_log_lines_dropped_total',
    help: 'Lines of the log of this process that could not be written',
    process: 'both',
    actWhen: 'grows ([runbook](runbooks.md#videogenloglinesdropped))',
    zeros: [{}],
    on: on('log_lines_dropped', ({ lines }) => [{}, lines]),
  },
  {
    type: 'state',
    name: 'videogen_catalogue_stale',
    help: 'Whether the file on disk is invalid and the previous catalogue stays in force',
    labels: ['of'],
    process: 'both',
    actWhen: '1 for 5 minutes: the changed catalogue is invalid ([runbook](runbooks.md#videogencataloguestale))',
    on: on('catalogue_read', ({ part, isRefused }) => [{ of: part }, isRefused ? 1 : 0]),
  },
  {
    type: 'state',
    name: 'videogen_catalogue_loaded_timestamp_seconds',
    help: 'When the catalogue in force was read, in Unix seconds',
    labels: ['of'],
    process: 'both',
    on: on('catalogue_read', ({ part, isRefused }) => (isRefused ? undefined : [{ of: part }, Date.now() / 1000])),
  },
];
