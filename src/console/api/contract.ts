// Written by "npm run openapi" from openapi.json; do not edit. What the console reads and sends, by path.

export type CreatedTask = {
  readonly taskId: string;
  readonly creditsCharged: number;
};

export type TaskRecord = {
  readonly taskId: string;
  readonly model: string;
  /** `success` and `fail` are final and never change. */
  readonly state: 'waiting' | 'queuing' | 'generating' | 'success' | 'fail';
  readonly progress: number;
  readonly param: {
    readonly model: string;
    readonly input: {
      readonly prompt: string;
      readonly negativePrompt?: string | undefined;
      readonly resolution: '480p' | '540p' | '720p' | '768p' | '1080p' | '1440p' | '2160p';
      /** Whole seconds. */
      readonly duration: number;
      readonly ratio:
        | 'adaptive'
        | '16:9'
        | '9:16'
        | '1:1'
        | '4:3'
        | '3:4'
        | '21:9'
        | '9:21'
        | '3:2'
        | '2:3'
        | '5:4'
        | '4:5';
      readonly generateAudio: boolean;
      readonly imageUrls: readonly string[];
      readonly firstFrameUrl?: string | undefined;
      readonly lastFrameUrl?: string | undefined;
      readonly videoUrls?: readonly string[] | undefined;
      readonly audioUrls?: readonly string[] | undefined;
      readonly seed?: number | undefined;
      readonly options?: Readonly<Record<string, boolean | number | string>> | undefined;
    };
    readonly callBackUrl?: string | undefined;
    /** The name by which a client of another API or dialect named the model. */
    readonly requestedModel?: string | undefined;
    /** Only of tasks created through an API with such a field. */
    readonly endUser?: string | undefined;
  };
  readonly resultJson: {
    /** Freshly signed links; empty until success. */
    readonly resultUrls: readonly string[];
    /** A freshly signed link to the last frame (JPEG), for models that store it. */
    readonly lastFrameUrl?: string | undefined;
    /** Measured from the stored video; absent until success. */
    readonly video?:
      | {
          readonly width: number;
          readonly height: number;
          readonly seconds: number;
          readonly framesPerSecond: number;
          readonly hasAudio: boolean;
          readonly bytes: number;
        }
      | undefined;
  };
  readonly failCode:
    | 'content_rejected'
    | 'image_unreachable'
    | 'image_invalid'
    | 'media_unreachable'
    | 'media_invalid'
    | 'provider_rejected'
    | 'provider_unavailable'
    | 'timeout'
    | 'result_invalid'
    | 'cancelled'
    | 'terminated'
    | 'internal'
    | null;
  readonly failMsg: string | null;
  readonly creditsCharged: number;
  /** All credits of a failed task. Of a success, the difference of the price if its model refunds what a video lacks. */
  readonly creditsRefunded: number;
  /** Milliseconds from the start of generation to the end. */
  readonly costTime: number | null;
  /** Unix milliseconds, as every time here. */
  readonly createTime: number;
  readonly updateTime: number;
  readonly completeTime: number | null;
};

export type TaskRequest = {
  readonly model: 'videogen-2.0' | 'videogen-2.0-fast' | (string & {});
  readonly input: {
    readonly prompt: string;
    /** Default 720p. */
    readonly resolution?: '720p' | null | undefined;
    /** Seconds, rounded half up to a whole number; default 5. */
    readonly duration?: number | null | undefined;
    /** Default 16:9; `adaptive` takes the ratio nearest to the first image, and is the default with a first or last frame. */
    readonly ratio?: 'adaptive' | '16:9' | '9:16' | '1:1' | '4:3' | '3:4' | '21:9' | null | undefined;
    /** Default true. */
    readonly generateAudio?: boolean | null | undefined;
    /** Reference images; none for text-to-video. */
    readonly imageUrls?: readonly string[] | null | undefined;
  };
  /** Receives a callback when the task succeeds or fails. */
  readonly callBackUrl?: string | null | undefined;
};

export type TaskPrice = {
  readonly model: string;
  /** The price of the model that applies to this input. */
  readonly priceName: string;
  readonly creditsPerSecond: number;
  readonly creditsPerVideo: number;
  /** Seconds × `creditsPerSecond` + `creditsPerVideo`. */
  readonly credits: number;
};

export type UploadedMedia = {
  readonly url: string;
  readonly kind: 'image' | 'video' | 'audio';
  /** The fields of `input` that take the file. */
  readonly fields: readonly ('imageUrls' | 'firstFrameUrl' | 'lastFrameUrl' | 'videoUrls' | 'audioUrls')[];
  /** A link to the file, valid for a day. */
  readonly previewUrl: string;
  readonly expireTime: number;
};

export type CancelledTask = {
  readonly taskId: string;
  /** False if the task had already ended in another way. */
  readonly cancelled: boolean;
  readonly state: 'success' | 'fail';
  readonly failCode:
    | 'content_rejected'
    | 'image_unreachable'
    | 'image_invalid'
    | 'media_unreachable'
    | 'media_invalid'
    | 'provider_rejected'
    | 'provider_unavailable'
    | 'timeout'
    | 'result_invalid'
    | 'cancelled'
    | 'terminated'
    | 'internal'
    | null;
  readonly creditsRefunded: number;
};

export type ListedTask = {
  readonly taskId: string;
  readonly model: string;
  /** `success` and `fail` are final and never change. */
  readonly state: 'waiting' | 'queuing' | 'generating' | 'success' | 'fail';
  readonly progress: number;
  readonly param: {
    readonly model: string;
    readonly input: {
      readonly prompt: string;
      readonly negativePrompt?: string | undefined;
      readonly resolution: '480p' | '540p' | '720p' | '768p' | '1080p' | '1440p' | '2160p';
      /** Whole seconds. */
      readonly duration: number;
      readonly ratio:
        | 'adaptive'
        | '16:9'
        | '9:16'
        | '1:1'
        | '4:3'
        | '3:4'
        | '21:9'
        | '9:21'
        | '3:2'
        | '2:3'
        | '5:4'
        | '4:5';
      readonly generateAudio: boolean;
      readonly imageUrls: readonly string[];
      readonly firstFrameUrl?: string | undefined;
      readonly lastFrameUrl?: string | undefined;
      readonly videoUrls?: readonly string[] | undefined;
      readonly audioUrls?: readonly string[] | undefined;
      readonly seed?: number | undefined;
      readonly options?: Readonly<Record<string, boolean | number | string>> | undefined;
    };
    readonly callBackUrl?: string | undefined;
    /** The name by which a client of another API or dialect named the model. */
    readonly requestedModel?: string | undefined;
    /** Only of tasks created through an API with such a field. */
    readonly endUser?: string | undefined;
  };
  readonly resultJson: {
    /** Freshly signed links; empty until success. */
    readonly resultUrls: readonly string[];
    /** A freshly signed link to the last frame (JPEG), for models that store it. */
    readonly lastFrameUrl?: string | undefined;
    /** Measured from the stored video; absent until success. */
    readonly video?:
      | {
          readonly width: number;
          readonly height: number;
          readonly seconds: number;
          readonly framesPerSecond: number;
          readonly hasAudio: boolean;
          readonly bytes: number;
        }
      | undefined;
  };
  readonly failCode:
    | 'content_rejected'
    | 'image_unreachable'
    | 'image_invalid'
    | 'media_unreachable'
    | 'media_invalid'
    | 'provider_rejected'
    | 'provider_unavailable'
    | 'timeout'
    | 'result_invalid'
    | 'cancelled'
    | 'terminated'
    | 'internal'
    | null;
  readonly failMsg: string | null;
  readonly creditsCharged: number;
  /** All credits of a failed task. Of a success, the difference of the price if its model refunds what a video lacks. */
  readonly creditsRefunded: number;
  /** Milliseconds from the start of generation to the end. */
  readonly costTime: number | null;
  /** Unix milliseconds, as every time here. */
  readonly createTime: number;
  readonly updateTime: number;
  readonly completeTime: number | null;
  /** The creator; null for a task that an operator started manually. */
  readonly createdBy: {
    readonly kind: 'key' | 'person';
    readonly id: string;
    /** The name of the key, or the e-mail of the person (`erased user` after erasure). */
    readonly name: string | null;
  } | null;
  /** A signed link to a still of the video; null without one. */
  readonly posterUrl: string | null;
  /** When prompt, images and video were deleted, on request or after their retention. */
  readonly contentDeleteTime: number | null;
};

export type TaskCount = {
  readonly tasks: number;
  /** False: there are at least this many. */
  readonly isExact: boolean;
};

export type DeletedTask = {
  readonly taskId: string;
  readonly contentDeleteTime: number;
};

export type TaskDeletion = {
  readonly taskId: string;
  /** False if the task has not ended. */
  readonly deleted: boolean;
  readonly contentDeleteTime: number | null;
};

export type TaskTimeline = {
  readonly task: TaskRecord;
  /** The creator; null for a task that an operator started manually. */
  readonly createdBy: {
    readonly kind: 'key' | 'person';
    readonly id: string;
    /** The name of the key, or the e-mail of the person (`erased user` after erasure). */
    readonly name: string | null;
  } | null;
  /** The price of the model that was charged. */
  readonly priceName: string;
  /** A signed link to a still of the video; null without one. */
  readonly posterUrl: string | null;
  /** Signed links to the uploaded files in the input, valid for a day. `url` is the address in the input. */
  readonly previews: readonly {
    readonly url: string;
    readonly previewUrl: string;
  }[];
  /** When the video was or will be deleted; null without one. */
  readonly mediaDeleteTime: number | null;
  /** When prompt, images and video were deleted, on request or after their retention. */
  readonly contentDeleteTime: number | null;
  /** In the order in which they began. */
  readonly steps: readonly {
    readonly step:
      | 'accepted'
      | 'waited'
      | 'generating'
      | 'stored'
      | 'succeeded'
      | 'failed'
      | 'refunded'
      | 'partially_refunded'
      | 'callback';
    readonly startTime: number;
    /** Null while the step runs; equal to `startTime` for an instant. */
    readonly endTime: number | null;
  }[];
  readonly ledger: readonly LedgerEntry[];
  readonly callback: Callback | null;
  /** Older waiting tasks of the account, at most 1,000. Null once generation begins. */
  readonly aheadOfOwn: number | null;
};

export type LedgerEntry = {
  readonly entryId: number;
  readonly kind: 'grant' | 'charge' | 'refund' | 'partial_refund' | 'adjustment';
  /** Negative for charges. */
  readonly amount: number;
  /** Below zero after a payment for credits that are spent was returned. */
  readonly balanceAfter: number;
  readonly taskId: string | null;
  /** The price of the charge or refund. */
  readonly priceName: string | null;
  readonly reason: string | null;
  /** Unix milliseconds. */
  readonly createTime: number;
};

export type Callback = {
  readonly taskId: string;
  /** The `webhook-id` header, the same for every attempt. */
  readonly webhookId: string;
  readonly url: string;
  readonly state: 'pending' | 'delivered' | 'failed' | 'rejected';
  readonly createTime: number;
  readonly completeTime: number | null;
  /** The latest start of the next attempt; null without one. */
  readonly nextAttemptTime: number | null;
  /** Newest first, at most 100. */
  readonly attempts: readonly {
    readonly attempt: number;
    /** Unix milliseconds, in whole seconds. */
    readonly startTime: number;
    /** The response status of the receiver; null if it was unreachable. */
    readonly status: number | null;
    readonly durationMs: number | null;
    /** Why nothing was delivered, other than by the status. `redirected`: redirects are not followed; register the URL that they lead to, such as the one with https:// or www. `unreachable`: the name does not resolve, or leads to an address that is not public. The other errors are those of public receivers that gave no response. */
    readonly error: 'unreachable' | 'refused' | 'tls' | 'timeout' | 'closed' | 'redirected' | null;
  }[];
};

export type GalleryVideo = {
  readonly taskId: string;
  readonly model: string;
  readonly prompt: string;
  /** The ratio of the request. */
  readonly ratio: string;
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly hasAudio: boolean;
  /** A freshly signed link. */
  readonly videoUrl: string;
  /** A freshly signed link to a still of the video. */
  readonly posterUrl: string;
  readonly favorite: boolean;
  readonly tags: readonly string[];
  readonly createTime: number;
};

export type LabeledVideos = {};

export type ShareLink = {
  readonly linkId: string;
  readonly taskId: string;
  readonly title: string | null;
  readonly showsAccountName: boolean;
  readonly createTime: number;
  readonly expireTime: number;
};

export type RevokedShareLink = {};

export type Overview = {
  /** Below zero after a payment for credits that are spent was returned. */
  readonly balance: number;
  /** Today and the previous six days, in UTC. */
  readonly days: readonly UsageDay[];
  /** Unfinished tasks, and those that ended in the last seven days. Counts stop at 10000. */
  readonly tasksByState: {
    readonly waiting: number;
    readonly queuing: number;
    readonly generating: number;
    readonly success: number;
    readonly fail: number;
  };
  /** Steps that the account has taken at least once. */
  readonly steps: {
    readonly hasKey: boolean;
    readonly hasTask: boolean;
    readonly hasCallback: boolean;
  };
  readonly books: {
    /** When the ledger was last audited. */
    readonly auditedTime: number | null;
    /** Unresolved errors in this account's ledger. */
    readonly violations: number;
  };
};

export type UsageDay = {
  /** A day in UTC. */
  readonly day: string;
  /** Null for grants and adjustments. */
  readonly model: string | null;
  /** The price of the model; null for grants and adjustments. */
  readonly priceName: string | null;
  readonly charged: number;
  readonly refunded: number;
  /** Grants and adjustments; may be negative. */
  readonly granted: number;
  /** Tasks created. */
  readonly tasks: number;
};

export type AccountStatus = {
  /** Below zero after a payment for credits that are spent was returned. */
  readonly balance: number;
  /** The balance is low below it; null without a threshold. */
  readonly lowBalance: number | null;
  /** True if owners can buy credits in the console. */
  readonly sellsCredits: boolean;
  readonly models: readonly {
    readonly model: string;
    readonly title: string;
    /** `slow`: the model is busy. `unavailable`: its tasks wait, and are retried or refunded. `failing`: it accepts tasks, but most of its last videos failed. */
    readonly state: 'slow' | 'unavailable' | 'failing';
    /** The next attempt; null if none is planned. */
    readonly retryTime: number | null;
    /** When the model probably works again and the tasks that wait have begun; null if that is unknown. */
    readonly estimatedEndTime: number | null;
  }[];
};

export type AccountLimits = {
  /** Tasks that wait or run. */
  readonly unfinishedTasks: {
    readonly used: number;
    readonly limit: number;
  };
  /** `remaining` requests are allowed now. Null without a limit. */
  readonly creates: {
    readonly quota: number;
    readonly windowSeconds: number;
    readonly remaining: number;
  } | null;
  /** `remaining` requests are allowed now. Null without a limit. */
  readonly reads: {
    readonly quota: number;
    readonly windowSeconds: number;
    readonly remaining: number;
  } | null;
  /** Those of the whole account. Keys and members may have others. */
  readonly spendCaps: readonly {
    readonly period: 'day' | 'month' | 'total';
    readonly cap: number;
    readonly spent: number;
    readonly resetTime: number | null;
  }[];
  readonly uploads: {
    readonly used: number;
    readonly limit: number;
  };
  readonly uploadedBytes: {
    readonly used: number;
    readonly limit: number;
  };
  readonly activeKeys: {
    readonly used: number;
    readonly limit: number;
  };
  readonly retention: {
    /** Until videos and uploaded files are deleted. */
    readonly mediaDays: number;
    /** Until prompts are deleted; null if they stay. */
    readonly promptDays: number | null;
  };
};

export type Statement = {
  readonly month: string;
  readonly fromTime: number;
  /** The start of the next month. */
  readonly toTime: number;
  readonly createTime: number;
  /** False while entries may still be added. */
  readonly isFinal: boolean;
  /** The month in which the account was created. */
  readonly firstMonth: string;
  /** The balance before the month. */
  readonly opening: number;
  /** The balance after the month, or the current one. */
  readonly closing: number;
  readonly sections: readonly {
    /** `top_up`, `top_up_reversal` (returned payments), `grant`, `code` (redeemed codes), `charge`, `refund` or `adjustment`. */
    readonly section: string;
    readonly entries: number;
    /** Signed. */
    readonly credits: number;
  }[];
  readonly lines: readonly StatementLine[];
};

export type StatementLine = {
  /** `top_up`, `top_up_reversal` (returned payments), `grant`, `code` (redeemed codes), `charge`, `refund` or `adjustment`. */
  readonly section: string;
  /** Only for charges and refunds. */
  readonly model: string | null;
  /** Only for charges and refunds. */
  readonly priceName: string | null;
  /** Only for other entries; null for the sum of further entries. */
  readonly bookTime: number | null;
  readonly reason: string | null;
  readonly entries: number;
  /** Signed. */
  readonly credits: number;
};

export type UsageGroupDay = {
  /** The day in UTC on which the tasks were created. */
  readonly day: string;
  /** The model, key or person; null for tasks that were created in another way, and for further groups. */
  readonly id: string | null;
  /** The name of the key, or the e-mail address of the person. */
  readonly name: string | null;
  /** True for the sum of groups beyond those with most credits. */
  readonly isRest: boolean;
  /** Tasks created. */
  readonly tasks: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Charges less refunds. */
  readonly credits: number;
};

export type ModelUsage = {
  readonly model: string;
  /** Tasks created. */
  readonly tasks: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Charges less refunds. */
  readonly credits: number;
  /** The median time from the acceptance of a task to its video, within 5 %; null without a success. */
  readonly p50Ms: number | null;
  /** The 95th percentile. */
  readonly p95Ms: number | null;
};

export type Model = {
  readonly model: string;
  readonly title: string;
  /** In the order in which they are decided: the first price that has begun and whose conditions the input meets applies. The last one has no conditions. */
  readonly prices: readonly ModelPrice[];
  /** The JSON Schema of `input` in a request for this model: its fields, bounds and defaults. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** The smallest body of `createTask`, with sample values. */
  readonly sampleRequest: {
    readonly model: string;
    readonly input: Readonly<Record<string, unknown>>;
  };
  /** Plain text for customers: the strengths of the model. */
  readonly description: string | null;
  /** A video or still that the model made; null without a sample in the catalogue. */
  readonly sample: {
    readonly videoUrl: string | null;
    readonly posterUrl: string | null;
    /** True: made by the built-in preview, which is not an AI model. */
    readonly isPreview: boolean;
  } | null;
  /** True if the last frame of its videos is stored, too; `resultJson.lastFrameUrl` is its link. */
  readonly lastFrame: boolean;
};

export type ModelPrice = {
  readonly name: string;
  /** The conditions, which must all hold; without any, every input meets them. */
  readonly when: {
    readonly resolution?: '480p' | '540p' | '720p' | '768p' | '1080p' | '1440p' | '2160p' | undefined;
    readonly generateAudio?: boolean | undefined;
    readonly options?: Readonly<Record<string, boolean | number | string>> | undefined;
    readonly imageUrls?: 'present' | 'absent' | undefined;
    readonly firstFrameUrl?: 'present' | 'absent' | undefined;
    readonly lastFrameUrl?: 'present' | 'absent' | undefined;
    readonly videoUrls?: 'present' | 'absent' | undefined;
    readonly audioUrls?: 'present' | 'absent' | undefined;
  };
  /** The amounts, which add up: those in force, if the price has begun, and announced ones. A task keeps the price of its creation. */
  readonly rates: readonly {
    readonly creditsPerSecond: number;
    readonly creditsPerVideo: number;
    readonly fromTime: number;
  }[];
};

export type Limits = {
  /** Null: no limit. */
  readonly creates: {
    readonly quota: number;
    readonly windowSeconds: number;
  } | null;
  /** Null: no limit. */
  readonly reads: {
    readonly quota: number;
    readonly windowSeconds: number;
  } | null;
  readonly unfinishedTasks: number;
  readonly maxUnfinishedTasks: number;
};

export type DeliveryAttempt = {
  readonly webhookId: string;
  /** The present URL of the callback or event. */
  readonly url: string;
  readonly attempt: number;
  /** Unix milliseconds, in whole seconds. */
  readonly startTime: number;
  /** The response status of the receiver; null if it was unreachable. */
  readonly status: number | null;
  readonly durationMs: number | null;
  /** Why nothing was delivered, other than by the status. `redirected`: redirects are not followed; register the URL that they lead to, such as the one with https:// or www. `unreachable`: the name does not resolve, or leads to an address that is not public. The other errors are those of public receivers that gave no response. */
  readonly error: 'unreachable' | 'refused' | 'tls' | 'timeout' | 'closed' | 'redirected' | null;
  readonly request: {
    /** The values of signatures are `(hidden)`. */
    readonly headers: readonly {
      readonly name: string;
      readonly value: string;
    }[];
    /** The first 8192 characters. */
    readonly body: string;
    readonly isBodyCut: boolean;
  } | null;
  /** Null without a response, and for a receiver in a private network. */
  readonly response: {
    /** The first KiB. */
    readonly headers: readonly {
      readonly name: string;
      readonly value: string;
    }[];
    /** The first KiB. */
    readonly body: string;
  } | null;
  /** True for the response of a receiver in a private network. */
  readonly isResponseHidden: boolean;
};

export type EventEndpoint = {
  readonly url: string;
  readonly types: readonly ('task.succeeded' | 'task.failed' | 'task.cancelled' | 'balance.low' | 'key.cap_reached')[];
};

export type Event = {
  readonly eventId: string;
  readonly type: 'task.succeeded' | 'task.failed' | 'task.cancelled' | 'balance.low' | 'key.cap_reached';
  /** Null for an event that is about no task. */
  readonly taskId: string | null;
  /** The `webhook-id` header, the same for every attempt. */
  readonly webhookId: string;
  readonly url: string;
  readonly state: 'pending' | 'delivered' | 'failed' | 'rejected';
  /** When it happened. */
  readonly createTime: number;
  readonly completeTime: number | null;
  /** The latest start of the next attempt; null without one. */
  readonly nextAttemptTime: number | null;
  /** Newest first, at most 100. */
  readonly attempts: readonly {
    readonly attempt: number;
    /** Unix milliseconds, in whole seconds. */
    readonly startTime: number;
    /** The response status of the receiver; null if it was unreachable. */
    readonly status: number | null;
    readonly durationMs: number | null;
    /** Why nothing was delivered, other than by the status. `redirected`: redirects are not followed; register the URL that they lead to, such as the one with https:// or www. `unreachable`: the name does not resolve, or leads to an address that is not public. The other errors are those of public receivers that gave no response. */
    readonly error: 'unreachable' | 'refused' | 'tls' | 'timeout' | 'closed' | 'redirected' | null;
  }[];
};

export type UsedApiKey = {
  readonly keyId: string;
  readonly name: string;
  /** The beginning and end of the key. */
  readonly hint: string;
  readonly scopes:
    | readonly ('tasks:write' | 'tasks:read' | 'credits:read' | 'callbacks:secret' | 'content:delete' | 'keys:write')[];
  /** The spelling of requests and records. */
  readonly dialect: 'native' | 'kie';
  /** The models that it may use; null for all. */
  readonly models: readonly string[] | null;
  /** Identical creates within a minute are one task. */
  readonly mergeRepeats: boolean;
  readonly createTime: number;
  readonly expireTime: number | null;
  /** Accurate to about a minute. */
  readonly lastUseTime: number | null;
  readonly revokeTime: number | null;
  /** Tasks of the last 30 days and their cost less refunds; at most the account's newest 50000 tasks. */
  readonly uses: {
    readonly tasks: number;
    readonly credits: number;
  };
};

export type NewApiKey = {
  readonly keyId: string;
  readonly name: string;
  /** The beginning and end of the key. */
  readonly hint: string;
  readonly scopes:
    | readonly ('tasks:write' | 'tasks:read' | 'credits:read' | 'callbacks:secret' | 'content:delete' | 'keys:write')[];
  /** The spelling of requests and records. */
  readonly dialect: 'native' | 'kie';
  /** The models that it may use; null for all. */
  readonly models: readonly string[] | null;
  /** Identical creates within a minute are one task. */
  readonly mergeRepeats: boolean;
  readonly createTime: number;
  readonly expireTime: number | null;
  /** Accurate to about a minute. */
  readonly lastUseTime: number | null;
  readonly revokeTime: number | null;
  /** The key. Store it: it is shown only once. */
  readonly key: string;
};

export type RotatedApiKey = {
  readonly keyId: string;
  readonly name: string;
  /** The beginning and end of the key. */
  readonly hint: string;
  readonly scopes:
    | readonly ('tasks:write' | 'tasks:read' | 'credits:read' | 'callbacks:secret' | 'content:delete' | 'keys:write')[];
  /** The spelling of requests and records. */
  readonly dialect: 'native' | 'kie';
  /** The models that it may use; null for all. */
  readonly models: readonly string[] | null;
  /** Identical creates within a minute are one task. */
  readonly mergeRepeats: boolean;
  readonly createTime: number;
  readonly expireTime: number | null;
  /** Accurate to about a minute. */
  readonly lastUseTime: number | null;
  readonly revokeTime: number | null;
  /** The key. Store it: it is shown only once. */
  readonly key: string;
  readonly oldKeyId: string;
  readonly oldExpireTime: number;
};

export type SpendCap = {
  readonly subject: 'key' | 'member' | 'account';
  /** The id of the key, the person or the account. */
  readonly subjectId: string;
  /** Days and months are those of UTC. */
  readonly period: 'day' | 'month' | 'total';
  readonly cap: number;
  /** Charges less refunds of tasks created in the period. */
  readonly spent: number;
  /** When `spent` becomes 0; null for a total. */
  readonly resetTime: number | null;
};

export type LoggedRequest = {
  /** The `X-Request-Id` of the response. */
  readonly requestId: string;
  /** When the response ended, in Unix milliseconds. */
  readonly time: number;
  readonly durationMs: number;
  readonly method: string;
  /** The path, without the values of its parameters and without the query. */
  readonly endpoint: string;
  /** The tool that an MCP request called. */
  readonly tool: string | null;
  /** Null if the client disconnected before the response began. */
  readonly status: number | null;
  /** The stable error code of a refused request. */
  readonly error: string | null;
  /** The task that a create made, or found for a repeat. */
  readonly taskId: string | null;
  /** The creator; null for a task that an operator started manually. */
  readonly createdBy: {
    readonly kind: 'key' | 'person';
    readonly id: string;
    /** The name of the key, or the e-mail of the person (`erased user` after erasure). */
    readonly name: string | null;
  } | null;
};

export type Me = {
  readonly user: {
    readonly userId: string;
    readonly email: string;
    readonly isOperator: boolean;
  };
  /** By name; at most 200. */
  readonly accounts: readonly {
    readonly accountId: string;
    readonly name: string;
    readonly role: 'owner' | 'member' | 'viewer';
    /** Null for an active account. `reason` is what the operator wrote. */
    readonly suspension: {
      readonly startTime: number;
      readonly reason: string | null;
    } | null;
  }[];
  /** The account that an operator views as its owner sees it; null without one. */
  readonly view: {
    readonly accountId: string;
    readonly name: string;
    /** Null for an active account. `reason` is what the operator wrote. */
    readonly suspension: {
      readonly startTime: number;
      readonly reason: string | null;
    } | null;
    readonly expireTime: number;
  } | null;
  /** The announcement of operators to everyone. */
  readonly announcement: Announcement | null;
  readonly session: {
    readonly sessionId: string;
    /** When the person last authenticated. */
    readonly authTime: number;
    readonly expireTime: number;
  };
};

export type Announcement = {
  readonly text: string;
  readonly level: 'info' | 'warning';
  readonly link: string | null;
  /** Null until it is removed. */
  readonly endTime: number | null;
};

export type Passkey = {
  readonly passkeyId: string;
  readonly name: string;
  readonly createTime: number;
  readonly lastUseTime: number | null;
};

export type Member = {
  readonly userId: string;
  readonly email: string;
  readonly isDisabled: boolean;
  readonly role: 'owner' | 'member' | 'viewer';
  readonly joinTime: number;
  /** Accurate to about a minute. */
  readonly lastUseTime: number | null;
};

export type MemberInvitation = {
  readonly linkId: string;
  /** Null if it was sent by e-mail. It is not shown again. */
  readonly url: string | null;
  /** The link was sent by e-mail. If false, no mail server is configured: send it to the person yourself. */
  readonly isMailed: boolean;
  readonly expireTime: number;
};

export type SecurityEvent = {
  readonly eventId: number;
  readonly kind:
    | 'signed_in'
    | 'sign_in_failed'
    | 'signed_out'
    | 'reauthenticated'
    | 'password_changed'
    | 'session_ended'
    | 'link_made'
    | 'link_accepted'
    | 'link_withdrawn'
    | 'role_changed'
    | 'member_removed'
    | 'user_disabled'
    | 'user_enabled'
    | 'operator_changed'
    | 'passkey_added'
    | 'passkey_removed'
    | 'identity_linked'
    | 'account_renamed'
    | 'account_closed'
    | 'share_link_made'
    | 'share_link_revoked';
  /** The person whom the event concerns. */
  readonly userId: string | null;
  readonly email: string | null;
  /** Null if the event concerns the person in all their accounts. */
  readonly accountId: string | null;
  /** The person or operator who caused the event, if that was another one. */
  readonly actor: string | null;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly createTime: number;
};

export type Price = {
  /** Three capital letters. */
  readonly currency: string;
  /** In the smallest unit of the currency: 1000 are 10.00 EUR. */
  readonly minorUnits: number;
};

export type TopUp = {
  readonly topUpId: string;
  readonly package: string;
  readonly credits: number;
  readonly price: Price;
  /** `open`: not paid yet. `processing`: the money is on its way. `paid`: the credits are granted. `failed` and `expired`: nothing was paid. */
  readonly state: 'open' | 'processing' | 'paid' | 'failed' | 'expired';
  /** Paid in test mode, without real money. */
  readonly isTest: boolean;
  readonly createTime: number;
  readonly paidTime: number | null;
  /** Credits that refunds and disputes have taken back. */
  readonly reversedCredits: number;
  /** The payment provider's receipt; only for owners. */
  readonly receiptUrl: string | null;
};

export type InstallationOverview = {
  /** Unfinished tasks by model and state. */
  readonly unfinished: readonly {
    readonly model: string;
    readonly state: 'waiting' | 'queuing' | 'generating';
    readonly tasks: number;
    /** The age of the oldest task. */
    readonly oldestMs: number;
  }[];
  /** Tasks whose workflow code fails; they are refunded after a while. */
  readonly stuckTasks: number;
  /** The last 24 hours; at most the newest 200000 tasks. */
  readonly lastDay: {
    readonly created: number;
    readonly charged: number;
    readonly succeeded: number;
    readonly cancelled: number;
    /** Tasks whose prompt or image was rejected. */
    readonly rejected: number;
    /** Other failed tasks, by code. */
    readonly failed: readonly {
      readonly failCode:
        | 'content_rejected'
        | 'image_unreachable'
        | 'image_invalid'
        | 'media_unreachable'
        | 'media_invalid'
        | 'provider_rejected'
        | 'provider_unavailable'
        | 'timeout'
        | 'result_invalid'
        | 'cancelled'
        | 'terminated'
        | 'internal';
      readonly tasks: number;
    }[];
    readonly refunded: number;
  };
  readonly callbacks: {
    readonly pending: number;
    /** Pending callbacks that are overdue by more than a minute. */
    readonly overdue: number;
    /** Failed or rejected in the last 24 hours. */
    readonly undelivered: number;
  };
  readonly books: {
    /** When the ledger was last audited. */
    readonly auditedTime: number | null;
    readonly violations: number;
    /** The oldest 100 violations. */
    readonly found: readonly {
      readonly rule: string;
      readonly accountId: string | null;
      readonly accountName: string | null;
      readonly entryId: number | null;
      readonly taskId: string | null;
      readonly detail: string;
      readonly foundTime: number;
    }[];
  };
  readonly providers: readonly Provider[];
};

export type Provider = {
  readonly provider: string;
  /** Null when the catalogue no longer names the provider. */
  readonly kind: string | null;
  /** Null for the preview, which runs on our workers. */
  readonly origin: string | null;
  readonly state: 'enabled' | 'draining' | 'off';
  readonly reason: string | null;
  readonly who: string | null;
  readonly changeTime: number | null;
  readonly pools: readonly {
    /** The provider and the upstream model, which have a concurrency limit of their own. */
    readonly pool: string;
    /** Concurrency limit; null when the catalogue no longer names the pool. */
    readonly limit: number | null;
    /** Jobs that run, or may run because a response was lost. */
    readonly occupying: number;
    /** Those of `occupying` whose create has no response. One whose response was lost takes its slot until its job is found or is certain not to exist: for one to two minutes where the upstream lists jobs, else for up to ten. */
    readonly unanswered: number;
    /** Tasks that wait for a slot. */
    readonly waiting: number;
    readonly oldestWaitMs: number | null;
    /** Each makes the next cooldown longer. */
    readonly consecutiveFailures: number;
    readonly coolingReason: 'busy' | 'overloaded' | 'unreachable' | 'operator' | 'unknown' | null;
    /** The rest of the cooldown; null without one. */
    readonly coolingMs: number | null;
  }[];
};

export type Trends = {
  readonly range: 'day' | 'week' | 'month';
  readonly bucketMs: number;
  readonly currency: string;
  readonly creditMicros: number;
  /** True if the range has more tasks than are read. */
  readonly isPartial: boolean;
  readonly total: {
    readonly created: number;
    readonly succeeded: number;
    readonly failed: number;
    /** Succeeded of succeeded and failed; null without any. */
    readonly successRate: number | null;
    /** The median time from the acceptance of a task until its video is there. */
    readonly p50Ms: number | null;
    readonly p95Ms: number | null;
    /** Charges less refunds. */
    readonly credits: number;
    /** These credits, at the price of a credit. */
    readonly revenueMicros: number;
    /** The known cost of jobs, in millionths of the currency. */
    readonly costMicros: number;
    /** Jobs of unknown cost, or billed in another currency. */
    readonly unpricedJobs: number;
    /** Revenue less cost; null if the cost of a job is unknown. */
    readonly marginMicros: number | null;
  };
  readonly buckets: readonly {
    readonly startTime: number;
    readonly created: number;
    readonly succeeded: number;
    readonly failed: number;
    /** Succeeded of succeeded and failed; null without any. */
    readonly successRate: number | null;
    /** The median time from the acceptance of a task until its video is there. */
    readonly p50Ms: number | null;
    readonly p95Ms: number | null;
    /** Charges less refunds. */
    readonly credits: number;
    /** These credits, at the price of a credit. */
    readonly revenueMicros: number;
    /** The known cost of jobs, in millionths of the currency. */
    readonly costMicros: number;
    /** Jobs of unknown cost, or billed in another currency. */
    readonly unpricedJobs: number;
    /** Revenue less cost; null if the cost of a job is unknown. */
    readonly marginMicros: number | null;
  }[];
  readonly providers: readonly {
    readonly provider: string;
    readonly jobs: number;
    /** Requests without a job, and failed and lost jobs. */
    readonly errors: number;
    readonly errorRate: number | null;
    /** The median time from the acceptance of a job to its end in success. */
    readonly p50Ms: number | null;
    readonly p95Ms: number | null;
    /** Requests and videos that it refused because of their content. */
    readonly refused: number;
    readonly costMicros: number;
    readonly buckets: readonly {
      readonly startTime: number;
      readonly jobs: number;
      /** Requests without a job, and failed and lost jobs. */
      readonly errors: number;
      readonly errorRate: number | null;
      /** The median time from the acceptance of a job to its end in success. */
      readonly p50Ms: number | null;
      readonly p95Ms: number | null;
    }[];
  }[];
  /** Payments of top-ups in the range, by currency. */
  readonly paid: readonly PaidMoney[];
};

export type PaidMoney = {
  readonly currency: string;
  /** True for payments in the provider's test mode, which move no money. */
  readonly isTest: boolean;
  readonly topUps: number;
  /** In the smallest unit of the currency. */
  readonly minorUnits: number;
  /** Refunded and disputed in the period. */
  readonly returnedMinorUnits: number;
};

export type Account = {
  readonly accountId: string;
  readonly name: string;
  /** Below zero after a payment for credits that are spent was returned. */
  readonly balance: number;
  readonly unfinishedTasks: number;
  readonly maxUnfinishedTasks: number;
  /** The account's own rate of creates; null for the default. */
  readonly creates: {
    readonly quota: number;
    readonly windowSeconds: number;
  } | null;
  readonly suspendTime: number | null;
  readonly closeTime: number | null;
  readonly createTime: number;
};

export type SetPrice = {
  readonly priceId: number;
  readonly model: string;
  /** It has no effect while the model has no price with this name. */
  readonly priceName: string;
  /** Null: applies to all accounts without their own price. */
  readonly accountId: string | null;
  readonly accountName: string | null;
  /** Both amounts are null if they end the previous price: an account returns to the list price, the list price to the catalogue's. */
  readonly creditsPerSecond: number | null;
  readonly creditsPerVideo: number | null;
  readonly fromTime: number;
  readonly state: 'announced' | 'in_force' | 'past' | 'withdrawn';
  readonly reason: string;
  readonly who: string;
  readonly createTime: number;
};

export type LoadedCatalogue = {
  /** The file; null for the built-in catalogue. */
  readonly path: string | null;
  /** A digest of the file and of those that it refers to. */
  readonly version: string;
  readonly loadTime: number;
  /** Why the file on disk is invalid; null if it is in force. */
  readonly refused: {
    readonly time: number;
    readonly problems: readonly string[];
  } | null;
  /** Why live workers refused it. */
  readonly workerRefusals: readonly string[];
  /** Models that no live worker can generate. */
  readonly notSold: readonly string[];
  readonly models: readonly {
    readonly model: string;
    readonly title: string;
    /** Those of the file; prices that operators have set replace their amounts. */
    readonly prices: readonly {
      readonly name: string;
      readonly amounts: readonly {
        readonly creditsPerSecond: number;
        readonly creditsPerVideo: number;
        readonly fromTime: number;
      }[];
    }[];
    /** In the order in which they are tried. */
    readonly providers: readonly {
      /** From 1: the second tier is used while the first one is unavailable. */
      readonly tier: number;
      readonly provider: string;
      readonly upstreamModel: string;
      readonly limit: number;
      readonly weight: number;
    }[];
    readonly deadlineMs: number;
  }[];
  readonly providers: readonly {
    readonly provider: string;
    readonly kind: string;
    /** Null for the preview, which runs on our workers. */
    readonly origin: string | null;
    /** The number of models that it generates. */
    readonly models: number;
  }[];
};

export type CodeBatch = {
  readonly batchId: string;
  readonly name: string;
  /** The credits of each code. */
  readonly credits: number;
  readonly codes: number;
  readonly redeemed: number;
  readonly createTime: number;
  readonly expireTime: number | null;
  readonly withdrawTime: number | null;
};

export type AdminTopUp = {
  readonly topUpId: string;
  readonly package: string;
  readonly credits: number;
  readonly price: Price;
  /** `open`: not paid yet. `processing`: the money is on its way. `paid`: the credits are granted. `failed` and `expired`: nothing was paid. */
  readonly state: 'open' | 'processing' | 'paid' | 'failed' | 'expired';
  /** Paid in test mode, without real money. */
  readonly isTest: boolean;
  readonly createTime: number;
  readonly paidTime: number | null;
  /** Credits that refunds and disputes have taken back. */
  readonly reversedCredits: number;
  /** The payment provider's receipt; only for owners. */
  readonly receiptUrl: string | null;
  readonly accountId: string;
  readonly accountName: string;
  readonly provider: 'stripe';
  /** The provider's id of the checkout. */
  readonly checkoutId: string | null;
  /** The provider's id of the payment. */
  readonly paymentId: string | null;
  /** The source of the payment: an event of the provider, or `reconciliation` because no event had arrived. */
  readonly settledBy: 'event' | 'reconciliation' | null;
};

export type UngrantedPayment = {
  readonly checkoutId: string;
  readonly topUpId: string;
  readonly accountId: string;
  readonly reason: 'account_not_found' | 'amount_differs' | 'other_checkout' | 'balance_out_of_range';
  readonly foundTime: number;
};

export type Margin = {
  readonly model: string;
  /** The price of the model that the tasks were charged. */
  readonly priceName: string;
  /** `none` for tasks without a job. */
  readonly provider: string;
  readonly tasks: number;
  readonly jobs: number;
  readonly creditsCharged: number;
  readonly creditsRefunded: number;
  /** Charges less refunds, at the price of a credit. */
  readonly revenueMicros: number;
  /** The known cost, in millionths of the currency. */
  readonly costMicros: number;
  /** Jobs of unknown cost. */
  readonly unknownJobs: number;
  /** Jobs billed in another currency. */
  readonly foreignJobs: number;
  /** Charges less refunds less cost; null if the cost of a job is unknown or in another currency. */
  readonly marginMicros: number | null;
};

export type BookedCredits = {
  /** `top_up`, `top_up_reversal` (returned payments), `grant`, `code` (redeemed codes) or `adjustment`. */
  readonly section: string;
  readonly entries: number;
  readonly credits: number;
  /** The credits, at the price of a credit. */
  readonly valueMicros: number;
  /** True if customers paid for these credits. */
  readonly isRevenue: boolean;
};

export type ProviderTest = {
  /** `ok`: it answered as its API does. `responded`: it answered something else. `not_tested`: no request was possible. `no_worker`: no worker ran the test in time. */
  readonly outcome: 'ok' | 'responded' | 'key_rejected' | 'unavailable' | 'unreachable' | 'not_tested' | 'no_worker';
  /** The HTTP status of its response. */
  readonly status: number | null;
  readonly latencyMs: number | null;
  readonly detail: string | null;
};

export type NewApiKeyOfAccount = {
  readonly keyId: string;
  readonly name: string;
  /** The beginning and end of the key. */
  readonly hint: string;
  readonly scopes:
    | readonly ('tasks:write' | 'tasks:read' | 'credits:read' | 'callbacks:secret' | 'content:delete' | 'keys:write')[];
  /** The spelling of requests and records. */
  readonly dialect: 'native' | 'kie';
  /** The models that it may use; null for all. */
  readonly models: readonly string[] | null;
  /** Identical creates within a minute are one task. */
  readonly mergeRepeats: boolean;
  readonly createTime: number;
  readonly expireTime: number | null;
  /** Accurate to about a minute. */
  readonly lastUseTime: number | null;
  readonly revokeTime: number | null;
  readonly accountId: string;
  /** The key. Store it: it is shown only once. */
  readonly key: string;
};

export type OperatorListedTask = {
  readonly taskId: string;
  readonly model: string;
  /** `success` and `fail` are final and never change. */
  readonly state: 'waiting' | 'queuing' | 'generating' | 'success' | 'fail';
  readonly progress: number;
  readonly param: {
    readonly model: string;
    readonly input: {
      readonly prompt: string;
      readonly negativePrompt?: string | undefined;
      readonly resolution: '480p' | '540p' | '720p' | '768p' | '1080p' | '1440p' | '2160p';
      /** Whole seconds. */
      readonly duration: number;
      readonly ratio:
        | 'adaptive'
        | '16:9'
        | '9:16'
        | '1:1'
        | '4:3'
        | '3:4'
        | '21:9'
        | '9:21'
        | '3:2'
        | '2:3'
        | '5:4'
        | '4:5';
      readonly generateAudio: boolean;
      readonly imageUrls: readonly string[];
      readonly firstFrameUrl?: string | undefined;
      readonly lastFrameUrl?: string | undefined;
      readonly videoUrls?: readonly string[] | undefined;
      readonly audioUrls?: readonly string[] | undefined;
      readonly seed?: number | undefined;
      readonly options?: Readonly<Record<string, boolean | number | string>> | undefined;
    };
    readonly callBackUrl?: string | undefined;
    /** The name by which a client of another API or dialect named the model. */
    readonly requestedModel?: string | undefined;
    /** Only of tasks created through an API with such a field. */
    readonly endUser?: string | undefined;
  };
  readonly resultJson: {
    /** Freshly signed links; empty until success. */
    readonly resultUrls: readonly string[];
    /** A freshly signed link to the last frame (JPEG), for models that store it. */
    readonly lastFrameUrl?: string | undefined;
    /** Measured from the stored video; absent until success. */
    readonly video?:
      | {
          readonly width: number;
          readonly height: number;
          readonly seconds: number;
          readonly framesPerSecond: number;
          readonly hasAudio: boolean;
          readonly bytes: number;
        }
      | undefined;
  };
  readonly failCode:
    | 'content_rejected'
    | 'image_unreachable'
    | 'image_invalid'
    | 'media_unreachable'
    | 'media_invalid'
    | 'provider_rejected'
    | 'provider_unavailable'
    | 'timeout'
    | 'result_invalid'
    | 'cancelled'
    | 'terminated'
    | 'internal'
    | null;
  readonly failMsg: string | null;
  readonly creditsCharged: number;
  /** All credits of a failed task. Of a success, the difference of the price if its model refunds what a video lacks. */
  readonly creditsRefunded: number;
  /** Milliseconds from the start of generation to the end. */
  readonly costTime: number | null;
  /** Unix milliseconds, as every time here. */
  readonly createTime: number;
  readonly updateTime: number;
  readonly completeTime: number | null;
  /** The creator; null for a task that an operator started manually. */
  readonly createdBy: {
    readonly kind: 'key' | 'person';
    readonly id: string;
    /** The name of the key, or the e-mail of the person (`erased user` after erasure). */
    readonly name: string | null;
  } | null;
  /** A signed link to a still of the video; null without one. */
  readonly posterUrl: string | null;
  /** When prompt, images and video were deleted, on request or after their retention. */
  readonly contentDeleteTime: number | null;
  readonly operator: {
    readonly accountId: string;
    readonly accountName: string | null;
  };
};

export type TaskDetail = {
  readonly task: TaskRecord;
  /** The creator; null for a task that an operator started manually. */
  readonly createdBy: {
    readonly kind: 'key' | 'person';
    readonly id: string;
    /** The name of the key, or the e-mail of the person (`erased user` after erasure). */
    readonly name: string | null;
  } | null;
  /** The price of the model that was charged. */
  readonly priceName: string;
  /** A signed link to a still of the video; null without one. */
  readonly posterUrl: string | null;
  /** Signed links to the uploaded files in the input, valid for a day. `url` is the address in the input. */
  readonly previews: readonly {
    readonly url: string;
    readonly previewUrl: string;
  }[];
  /** When the video was or will be deleted; null without one. */
  readonly mediaDeleteTime: number | null;
  /** When prompt, images and video were deleted, on request or after their retention. */
  readonly contentDeleteTime: number | null;
  /** In the order in which they began. */
  readonly steps: readonly {
    readonly step:
      | 'accepted'
      | 'waited'
      | 'generating'
      | 'stored'
      | 'succeeded'
      | 'failed'
      | 'refunded'
      | 'partially_refunded'
      | 'callback';
    readonly startTime: number;
    /** Null while the step runs; equal to `startTime` for an instant. */
    readonly endTime: number | null;
  }[];
  readonly ledger: readonly LedgerEntry[];
  readonly callback: OperatorCallback | null;
  /** Older waiting tasks of the account, at most 1,000. Null once generation begins. */
  readonly aheadOfOwn: number | null;
  readonly operator: {
    readonly accountId: string;
    readonly accountName: string | null;
    /** The task's workflow in Temporal's UI; null if its URL is unknown. */
    readonly temporalUrl: string | null;
    /** Keys of the stored files; null without a video. */
    readonly files: {
      readonly videoKey: string;
      readonly posterKey: string;
      readonly lastFrameKey: string | null;
      readonly sha256: string;
    } | null;
    readonly providerJobs: readonly {
      readonly ordinal: number;
      readonly provider: string;
      /** Null if the response was lost or is still awaited. */
      readonly jobId: string | null;
      readonly outcome: 'success' | 'fail' | 'not_created' | 'refused' | 'abandoned' | 'late_success' | null;
      readonly failCode: string | null;
      readonly failMsg: string | null;
      readonly ageMs: number;
      /** The provider with its model; null for a job on our own worker. */
      readonly pool: string | null;
      /** When the create was decided; null while only the slot is reserved. */
      readonly intendTime: number | null;
      /** When the upstream accepted it. */
      readonly submitTime: number | null;
      readonly upstreamEndTime: number | null;
      /** When its outcome was recorded. */
      readonly endTime: number | null;
      /** In millionths of the currency; null if unknown. */
      readonly costMicros: number | null;
      readonly costCurrency: string | null;
      readonly costBasis: 'reported' | 'estimated' | 'unknown' | null;
      /** The upstream's message. */
      readonly detail: string | null;
    }[];
    /** The differences between the stored video and the order; empty without a video, and after its deletion. */
    readonly differences: readonly {
      readonly aspect: 'seconds' | 'sound' | 'ratio' | 'size';
      readonly kind: 'short' | 'more';
      readonly ordered: string;
      readonly delivered: string;
    }[];
  };
};

export type OperatorCallback = {
  /** Null for an event that is about no task. */
  readonly taskId: string | null;
  /** The `webhook-id` header, the same for every attempt. */
  readonly webhookId: string;
  readonly url: string;
  readonly state: 'pending' | 'delivered' | 'failed' | 'rejected';
  readonly createTime: number;
  readonly completeTime: number | null;
  /** The latest start of the next attempt; null without one. */
  readonly nextAttemptTime: number | null;
  /** Newest first, at most 100. */
  readonly attempts: readonly {
    readonly attempt: number;
    /** Unix milliseconds, in whole seconds. */
    readonly startTime: number;
    /** The response status of the receiver; null if it was unreachable. */
    readonly status: number | null;
    readonly durationMs: number | null;
    /** Why nothing was delivered, other than by the status. `redirected`: redirects are not followed; register the URL that they lead to, such as the one with https:// or www. `unreachable`: the name does not resolve, or leads to an address that is not public. The other errors are those of public receivers that gave no response. */
    readonly error: 'unreachable' | 'refused' | 'tls' | 'timeout' | 'closed' | 'redirected' | null;
    readonly operator: {
      /** The kind of network error; hidden from clients. */
      readonly networkError: string | null;
      /** The first KiB of the response. */
      readonly responseHead: string | null;
    };
  }[];
  /** The type of an event; null for a callback. */
  readonly event: 'task.succeeded' | 'task.failed' | 'task.cancelled' | 'balance.low' | 'key.cap_reached' | null;
  readonly operator: {
    readonly accountId: string;
    readonly accountName: string | null;
    /** Requested redeliveries. */
    readonly redeliveries: number;
  };
};

export type Person = {
  readonly userId: string;
  readonly email: string;
  readonly isDisabled: boolean;
  /** In the account of the request; null without one. */
  readonly role: 'owner' | 'member' | 'viewer' | null;
  readonly joinTime: number | null;
  /** Accurate to about a minute. */
  readonly lastUseTime: number | null;
  readonly operator: {
    readonly isOperator: boolean;
    /** By name; at most 100. */
    readonly accounts: readonly {
      readonly accountId: string;
      readonly name: string;
      readonly role: 'owner' | 'member' | 'viewer';
    }[];
    readonly createTime: number;
    readonly lastSignInTime: number | null;
  };
};

export type NewLink = {
  readonly linkId: string;
  /** It is not shown again. */
  readonly url: string;
  /** The link is also sent by e-mail. If false, send it to the person yourself. */
  readonly isMailed: boolean;
  readonly expireTime: number;
};

export type SignUp = {
  readonly linkId: string;
  readonly email: string;
  /** The network that requested it. */
  readonly address: string;
  /** Null if none was queued: deliver a link yourself. */
  readonly mail: 'waiting' | 'sent' | 'failed' | null;
  readonly createTime: number;
  readonly expireTime: number;
};

export type OperatorAction = {
  readonly actionId: number;
  readonly action:
    | 'accounts.create'
    | 'accounts.sign_up'
    | 'accounts.suspend'
    | 'accounts.unsuspend'
    | 'accounts.limits'
    | 'accounts.rename'
    | 'accounts.close'
    | 'accounts.view'
    | 'credits.grant'
    | 'credits.adjust'
    | 'codes.create'
    | 'codes.withdraw'
    | 'prices.set'
    | 'prices.withdraw'
    | 'keys.create'
    | 'keys.revoke'
    | 'caps.set'
    | 'tasks.cancel'
    | 'tasks.delete'
    | 'tasks.retry'
    | 'callbacks.redeliver'
    | 'callback_secret.rotate'
    | 'events.set'
    | 'events.remove'
    | 'event_secret.rotate'
    | 'operators.create'
    | 'operators.revoke'
    | 'providers.set'
    | 'providers.test'
    | 'announcement.set'
    | 'announcement.remove'
    | 'people.invite'
    | 'people.withdraw'
    | 'people.reset'
    | 'people.sign_up_link'
    | 'people.disable'
    | 'people.enable'
    | 'people.operator'
    | 'people.end_sessions'
    | 'people.erase';
  readonly actor: {
    readonly kind: 'operator' | 'user' | 'command_line';
    readonly operatorId: string | null;
    /** An operator who was signed in to the console. */
    readonly userId: string | null;
    /** The operator's name, the e-mail of a person in the console, or the user of the machine at the command line. */
    readonly name: string;
    /** The `X-Request-Id` of the response. */
    readonly requestId: string | null;
  };
  readonly accountId: string | null;
  readonly accountName: string | null;
  readonly taskId: string | null;
  readonly keyId: string | null;
  /** Old and new values, and the reason. Contains no secrets. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly createTime: number;
};

export type Waiting = {
  /** Waiting tasks by reason and pool. */
  readonly groups: readonly {
    /** `start`: not started yet. `worker`: waits for a free worker. `provider_limit`: all slots of the provider are taken. `provider_cooldown`: the provider failed, and is tried again after a pause. `provider_disabled`: an operator has drained or disabled it. `account_queue`: behind other tasks of its account. `lost_response`: the response of its create was lost, and the job is looked up; its slot stays taken. `retry`: an attempt failed, and another one follows. */
    readonly reason:
      | 'start'
      | 'worker'
      | 'provider_limit'
      | 'provider_cooldown'
      | 'provider_disabled'
      | 'account_queue'
      | 'lost_response'
      | 'retry';
    readonly provider: string | null;
    readonly pool: string | null;
    readonly coolingReason: string | null;
    /** When the next attempt is due; null if no timer decides it. */
    readonly nextTime: number | null;
    readonly tasks: number;
    /** Since the oldest of the tasks was accepted. */
    readonly oldestMs: number;
  }[];
  /** The 10 accounts with the most waiting tasks. */
  readonly accounts: readonly {
    readonly accountId: string;
    readonly accountName: string;
    readonly tasks: number;
    readonly oldestMs: number;
  }[];
  /** The 50 oldest waiting tasks. */
  readonly tasks: readonly {
    readonly taskId: string;
    readonly accountId: string;
    readonly accountName: string;
    readonly model: string;
    /** `start`: not started yet. `worker`: waits for a free worker. `provider_limit`: all slots of the provider are taken. `provider_cooldown`: the provider failed, and is tried again after a pause. `provider_disabled`: an operator has drained or disabled it. `account_queue`: behind other tasks of its account. `lost_response`: the response of its create was lost, and the job is looked up; its slot stays taken. `retry`: an attempt failed, and another one follows. */
    readonly reason:
      | 'start'
      | 'worker'
      | 'provider_limit'
      | 'provider_cooldown'
      | 'provider_disabled'
      | 'account_queue'
      | 'lost_response'
      | 'retry';
    readonly provider: string | null;
    readonly pool: string | null;
    readonly coolingReason: string | null;
    /** When the next attempt is due; null if no timer decides it. */
    readonly nextTime: number | null;
    readonly ageMs: number;
  }[];
};

export type Reads = {
  readonly '/api/v1/uploads/previews': {
    readonly query: {
      readonly urls: string;
    };
    readonly answer: {
      /** Signed links, valid for a day. */
      readonly previews: readonly {
        readonly url: string;
        readonly previewUrl: string;
      }[];
    };
  };
  readonly '/api/v1/jobs/recordInfo': {
    readonly query: {
      readonly taskId: string;
    };
    readonly answer: TaskRecord;
  };
  readonly '/api/v1/jobs/listTasks': {
    readonly query: {
      readonly state?: 'waiting' | 'queuing' | 'generating' | 'success' | 'fail' | undefined;
      /** Failed tasks with this code. */
      readonly failCode?:
        | 'content_rejected'
        | 'image_unreachable'
        | 'image_invalid'
        | 'media_unreachable'
        | 'media_invalid'
        | 'provider_rejected'
        | 'provider_unavailable'
        | 'timeout'
        | 'result_invalid'
        | 'cancelled'
        | 'terminated'
        | 'internal'
        | undefined;
      /** Failed tasks that the client cancelled (`cancelled`), whose prompt or image was rejected (`rejected`), or that failed for any other reason (`failed`). */
      readonly outcome?: 'cancelled' | 'rejected' | 'failed' | undefined;
      readonly model?: string | undefined;
      /** The key or person that created the task. */
      readonly createdBy?: string | undefined;
      /** Part of the id, at least 4 characters, or words that the prompt contains; the last word may be incomplete. Parts of ids are searched in the 100,000 newest tasks between `from` and `to`. Words match nothing if the installation disables prompt search. */
      readonly search?: string | undefined;
      /** Created at this Unix millisecond or later. */
      readonly from?: number | undefined;
      /** Created before this Unix millisecond. */
      readonly to?: number | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly tasks: readonly ListedTask[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/v1/jobs/countTasks': {
    readonly query: {
      readonly model?: string | undefined;
      /** The key or person that created the task. */
      readonly createdBy?: string | undefined;
      /** Part of the id, at least 4 characters, or words that the prompt contains; the last word may be incomplete. Parts of ids are searched in the 100,000 newest tasks between `from` and `to`. Words match nothing if the installation disables prompt search. */
      readonly search?: string | undefined;
      /** Created at this Unix millisecond or later. */
      readonly from?: number | undefined;
      /** Created before this Unix millisecond. */
      readonly to?: number | undefined;
    };
    readonly answer: {
      /** By state; failed tasks by `outcome`. */
      readonly counts: {
        readonly waiting: TaskCount;
        readonly queuing: TaskCount;
        readonly generating: TaskCount;
        readonly success: TaskCount;
        readonly cancelled: TaskCount;
        readonly rejected: TaskCount;
        readonly failed: TaskCount;
      };
    };
  };
  readonly '/api/v1/jobs/timeline': {
    readonly query: {
      readonly taskId: string;
    };
    readonly answer: TaskTimeline;
  };
  readonly '/api/v1/gallery/videos': {
    readonly query: {
      readonly model?: string | undefined;
      /** The ratio of the request. */
      readonly ratio?:
        | 'adaptive'
        | '16:9'
        | '9:16'
        | '1:1'
        | '4:3'
        | '3:4'
        | '21:9'
        | '9:21'
        | '3:2'
        | '2:3'
        | '5:4'
        | '4:5'
        | undefined;
      /** `true`: favorites only. */
      readonly favorite?: boolean | undefined;
      readonly tag?: string | undefined;
      /** Words that the prompt contains; the last one may be incomplete. They match nothing if the installation disables prompt search. */
      readonly search?: string | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly videos: readonly GalleryVideo[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/v1/gallery/tags': {
    readonly query: {};
    readonly answer: {
      readonly tags: readonly string[];
    };
  };
  readonly '/api/v1/gallery/shareLinks': {
    readonly query: {
      readonly taskId: string;
    };
    readonly answer: {
      readonly links: readonly ShareLink[];
    };
  };
  readonly '/api/v1/overview': {
    readonly query: {
      /** False leaves `days` empty: their sums take longer than the rest. */
      readonly days?: boolean | undefined;
    };
    readonly answer: Overview;
  };
  readonly '/api/v1/status': {
    readonly query: {};
    readonly answer: AccountStatus;
  };
  readonly '/api/v1/limits': {
    readonly query: {};
    readonly answer: AccountLimits;
  };
  readonly '/api/v1/credits': {
    readonly query: {
      readonly kind?: 'grant' | 'charge' | 'refund' | 'partial_refund' | 'adjustment' | undefined;
      /** The charge and refund of this task. */
      readonly taskId?: string | undefined;
      /** Booked at this Unix millisecond or later. */
      readonly from?: number | undefined;
      /** Booked before this Unix millisecond. */
      readonly to?: number | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      /** Below zero after a payment for credits that are spent was returned. */
      readonly balance: number;
      readonly entries: readonly LedgerEntry[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/v1/credits/daily': {
    readonly query: {
      readonly from: string;
      readonly to: string;
    };
    readonly answer: {
      readonly days: readonly UsageDay[];
    };
  };
  readonly '/api/v1/credits/statement': {
    readonly query: {
      /** A month in UTC. */
      readonly month: string;
    };
    readonly answer: Statement;
  };
  readonly '/api/v1/usage': {
    readonly query: {
      readonly from: string;
      readonly to: string;
      /** Each day has a row for each of these. */
      readonly by?: 'model' | 'key' | 'person' | undefined;
    };
    readonly answer: {
      readonly days: readonly UsageGroupDay[];
      readonly models: readonly ModelUsage[];
    };
  };
  readonly '/api/v1/models': {
    readonly query: {};
    readonly answer: {
      readonly models: readonly Model[];
      readonly limits: Limits;
    };
  };
  readonly '/api/v1/callbacks': {
    readonly query: {
      readonly taskId?: string | undefined;
      readonly state?: 'pending' | 'delivered' | 'failed' | 'rejected' | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly callbacks: readonly Callback[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/v1/callbacks/attempt': {
    readonly query: {
      /** The `taskId` of a callback, or the `eventId` of an event. */
      readonly deliveryId: string;
      /** The latest one by default. */
      readonly attempt?: number | undefined;
    };
    readonly answer: DeliveryAttempt;
  };
  readonly '/api/v1/events/endpoint': {
    readonly query: {};
    readonly answer: {
      readonly endpoint: EventEndpoint | null;
    };
  };
  readonly '/api/v1/events': {
    readonly query: {
      readonly type?:
        | 'task.succeeded'
        | 'task.failed'
        | 'task.cancelled'
        | 'balance.low'
        | 'key.cap_reached'
        | undefined;
      readonly state?: 'pending' | 'delivered' | 'failed' | 'rejected' | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly events: readonly Event[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/v1/keys': {
    readonly query: {};
    readonly answer: {
      readonly keys: readonly UsedApiKey[];
    };
  };
  readonly '/api/v1/caps': {
    readonly query: {};
    readonly answer: {
      readonly caps: readonly SpendCap[];
    };
  };
  readonly '/api/v1/requests': {
    readonly query: {
      readonly status?: '2xx' | '3xx' | '4xx' | '5xx' | undefined;
      readonly keyId?: string | undefined;
      /** Part of the path. */
      readonly endpoint?: string | undefined;
      /** The stable error code. */
      readonly error?: string | undefined;
      readonly requestId?: string | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly requests: readonly LoggedRequest[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/console/v1/options': {
    readonly query: {};
    readonly answer: {
      readonly passwordSignIn: boolean;
      readonly passkeys: boolean;
      /** An identity provider. A sign-in begins at `/console/oidc/start`. With `?proof=1&next=PATH` a signed-in person authenticates again and returns to that page of the console. */
      readonly oidc: {
        readonly name: string;
      } | null;
      /** With `code`, sign-up requires a redemption code; with `domain`, an e-mail address of some domains. */
      readonly signUp: 'off' | 'open' | 'code' | 'domain';
      /** The installation has no operator yet. `npm start` prints the link. */
      readonly needsSetUp: boolean;
    };
  };
  readonly '/api/console/v1/me': {
    readonly query: {};
    readonly answer: Me;
  };
  readonly '/api/console/v1/sessions': {
    readonly query: {};
    readonly answer: {
      readonly sessions: readonly {
        readonly sessionId: string;
        readonly isCurrent: boolean;
        readonly createTime: number;
        /** Exact to about a minute. */
        readonly lastUseTime: number;
        /** When the session ends unless it is used. */
        readonly expireTime: number;
        readonly address: string;
        readonly userAgent: string;
      }[];
    };
  };
  readonly '/api/console/v1/passkeys': {
    readonly query: {};
    readonly answer: {
      readonly passkeys: readonly Passkey[];
    };
  };
  readonly '/api/console/v1/members': {
    readonly query: {};
    readonly answer: {
      readonly members: readonly Member[];
      readonly invitations: readonly {
        readonly linkId: string;
        readonly email: string;
        readonly role: 'owner' | 'member' | 'viewer';
        readonly expireTime: number;
      }[];
    };
  };
  readonly '/api/console/v1/events': {
    readonly query: {
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly events: readonly SecurityEvent[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/console/v1/credits/packages': {
    readonly query: {};
    readonly answer: {
      /** Null while credits are not for sale. */
      readonly provider: 'stripe' | null;
      /** True in test mode: no real money moves. */
      readonly isTest: boolean;
      readonly packages: readonly {
        readonly package: string;
        readonly title: string;
        readonly credits: number;
        readonly price: Price;
      }[];
    };
  };
  readonly '/api/console/v1/credits/top-ups': {
    readonly query: {
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly topUps: readonly TopUp[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/admin/v1/overview': {
    readonly query: {};
    readonly answer: InstallationOverview;
  };
  readonly '/api/admin/v1/trends': {
    readonly query: {
      /** 24 hours by the hour, 7 days by 6 hours, or 30 days by the day, in UTC. The last part is not over yet. */
      readonly range?: 'day' | 'week' | 'month' | undefined;
    };
    readonly answer: Trends;
  };
  readonly '/api/admin/v1/accounts/top': {
    readonly query: {
      /** 24 hours by the hour, 7 days by 6 hours, or 30 days by the day, in UTC. The last part is not over yet. */
      readonly range?: 'day' | 'week' | 'month' | undefined;
      readonly by?: 'credits' | 'tasks' | undefined;
    };
    readonly answer: {
      readonly accounts: readonly {
        readonly accountId: string;
        readonly accountName: string;
        readonly tasks: number;
        readonly succeeded: number;
        /** Charges less refunds. */
        readonly credits: number;
      }[];
    };
  };
  readonly '/api/admin/v1/accounts': {
    readonly query: {
      /** The beginning of the name, case-insensitive, or an account id. */
      readonly search?: string | undefined;
      readonly state?: 'active' | 'suspended' | 'closed' | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly accounts: readonly Account[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/admin/v1/accounts/show': {
    readonly query: {
      readonly accountId: string;
    };
    readonly answer: {
      readonly account: Account;
      readonly counts: {
        readonly activeKeys: number;
        readonly waiting: number;
        readonly queuing: number;
        readonly generating: number;
        /** All tasks ever created. Counts stop at 10000. */
        readonly tasks: number;
      };
    };
  };
  readonly '/api/admin/v1/credits': {
    readonly query: {
      readonly accountId: string;
      readonly kind?: 'grant' | 'charge' | 'refund' | 'partial_refund' | 'adjustment' | undefined;
      /** The charge and refund of this task. */
      readonly taskId?: string | undefined;
      /** Booked at this Unix millisecond or later. */
      readonly from?: number | undefined;
      /** Booked before this Unix millisecond. */
      readonly to?: number | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly accountId: string;
      /** Below zero after a payment for credits that are spent was returned. */
      readonly balance: number;
      readonly entries: readonly LedgerEntry[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/admin/v1/prices': {
    readonly query: {
      readonly accountId?: string | undefined;
      readonly model?: string | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly models: readonly {
        readonly model: string;
        readonly title: string;
        /** In the order in which they are decided: the first price that has begun and whose conditions the input meets applies. The last one has no conditions. */
        readonly prices: readonly ModelPrice[];
      }[];
      readonly prices: readonly SetPrice[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/admin/v1/catalogue': {
    readonly query: {};
    readonly answer: LoadedCatalogue;
  };
  readonly '/api/admin/v1/codes': {
    readonly query: {};
    readonly answer: {
      readonly batches: readonly CodeBatch[];
    };
  };
  readonly '/api/admin/v1/top-ups': {
    readonly query: {
      readonly accountId?: string | undefined;
      readonly state?: 'open' | 'processing' | 'paid' | 'failed' | 'expired' | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly topUps: readonly AdminTopUp[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/admin/v1/payments': {
    readonly query: {};
    readonly answer: {
      /** Null while credits are not for sale. */
      readonly provider: 'stripe' | null;
      /** True in test mode: no real money moves. */
      readonly isTest: boolean;
      /** When purchases were last compared with the provider's records. */
      readonly reconcileTime: number | null;
      /** The oldest 100 payments that were not granted. Return them at the provider, or remove the reason. */
      readonly ungranted: readonly UngrantedPayment[];
    };
  };
  readonly '/api/admin/v1/caps': {
    readonly query: {
      readonly accountId: string;
    };
    readonly answer: {
      readonly caps: readonly SpendCap[];
    };
  };
  readonly '/api/admin/v1/providers': {
    readonly query: {};
    readonly answer: {
      readonly providers: readonly Provider[];
    };
  };
  readonly '/api/admin/v1/margin': {
    readonly query: {
      readonly fromTime: number;
      readonly toTime: number;
      readonly model?: string | undefined;
      readonly provider?: string | undefined;
    };
    readonly answer: {
      readonly currency: string;
      /** The price of a credit, in millionths of the currency. */
      readonly creditMicros: number;
      readonly rows: readonly Margin[];
      /** Credits that accounts got in the period other than by refunds. `model` and `provider` do not apply. */
      readonly booked: readonly BookedCredits[];
      /** Payments of top-ups in the period, by currency. */
      readonly paid: readonly PaidMoney[];
    };
  };
  readonly '/api/admin/v1/keys': {
    readonly query: {
      readonly accountId: string;
    };
    readonly answer: {
      readonly keys: readonly UsedApiKey[];
    };
  };
  readonly '/api/admin/v1/tasks': {
    readonly query: {
      readonly state?: 'waiting' | 'queuing' | 'generating' | 'success' | 'fail' | undefined;
      /** Failed tasks with this code. */
      readonly failCode?:
        | 'content_rejected'
        | 'image_unreachable'
        | 'image_invalid'
        | 'media_unreachable'
        | 'media_invalid'
        | 'provider_rejected'
        | 'provider_unavailable'
        | 'timeout'
        | 'result_invalid'
        | 'cancelled'
        | 'terminated'
        | 'internal'
        | undefined;
      /** Failed tasks that the client cancelled (`cancelled`), whose prompt or image was rejected (`rejected`), or that failed for any other reason (`failed`). */
      readonly outcome?: 'cancelled' | 'rejected' | 'failed' | undefined;
      readonly accountId?: string | undefined;
      /** Tasks with a job at this provider. */
      readonly provider?: string | undefined;
      readonly model?: string | undefined;
      /** The key or person that created the task. */
      readonly createdBy?: string | undefined;
      /** Part of the id, at least 4 characters, or words that the prompt contains; the last word may be incomplete. Parts of ids are searched in the 100,000 newest tasks between `from` and `to`. Words match nothing if the installation disables prompt search. */
      readonly search?: string | undefined;
      /** Created at this Unix millisecond or later. */
      readonly from?: number | undefined;
      /** Created before this Unix millisecond. */
      readonly to?: number | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly tasks: readonly OperatorListedTask[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/admin/v1/tasks/counts': {
    readonly query: {
      readonly accountId?: string | undefined;
      /** Tasks with a job at this provider. */
      readonly provider?: string | undefined;
      readonly model?: string | undefined;
      /** The key or person that created the task. */
      readonly createdBy?: string | undefined;
      /** Part of the id, at least 4 characters, or words that the prompt contains; the last word may be incomplete. Parts of ids are searched in the 100,000 newest tasks between `from` and `to`. Words match nothing if the installation disables prompt search. */
      readonly search?: string | undefined;
      /** Created at this Unix millisecond or later. */
      readonly from?: number | undefined;
      /** Created before this Unix millisecond. */
      readonly to?: number | undefined;
    };
    readonly answer: {
      /** By state; failed tasks by `outcome`. */
      readonly counts: {
        readonly waiting: TaskCount;
        readonly queuing: TaskCount;
        readonly generating: TaskCount;
        readonly success: TaskCount;
        readonly cancelled: TaskCount;
        readonly rejected: TaskCount;
        readonly failed: TaskCount;
      };
    };
  };
  readonly '/api/admin/v1/tasks/show': {
    readonly query: {
      readonly taskId: string;
    };
    readonly answer: TaskDetail;
  };
  readonly '/api/admin/v1/callbacks/failed': {
    readonly query: {
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly callbacks: readonly OperatorCallback[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/admin/v1/callbacks/attempt': {
    readonly query: {
      /** The `taskId` of a callback, or the `eventId` of an event. */
      readonly deliveryId: string;
      /** The latest one by default. */
      readonly attempt?: number | undefined;
    };
    readonly answer: DeliveryAttempt;
  };
  readonly '/api/admin/v1/people': {
    readonly query: {
      /** A part of the e-mail. */
      readonly search?: string | undefined;
      /** The members of one account. */
      readonly accountId?: string | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly people: readonly Person[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/admin/v1/people/events': {
    readonly query: {
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly events: readonly SecurityEvent[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/admin/v1/people/invitations': {
    readonly query: {};
    readonly answer: {
      readonly invitations: readonly {
        readonly linkId: string;
        readonly email: string;
        /** An account that the person also joins. */
        readonly accountId: string | null;
        readonly accountName: string | null;
        readonly role: 'owner' | 'member' | 'viewer' | null;
        readonly expireTime: number;
      }[];
    };
  };
  readonly '/api/admin/v1/sign-ups': {
    readonly query: {};
    readonly answer: {
      readonly signUps: readonly SignUp[];
    };
  };
  readonly '/api/admin/v1/audit': {
    readonly query: {
      readonly accountId?: string | undefined;
      readonly operatorId?: string | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: number | undefined;
    };
    readonly answer: {
      readonly actions: readonly OperatorAction[];
      /** Pass it as `cursor` to get the next page; null on the last page. */
      readonly nextCursor: string | null;
    };
  };
  readonly '/api/admin/v1/announcement': {
    readonly query: {};
    readonly answer: {
      readonly announcement: Announcement | null;
    };
  };
  readonly '/api/admin/v1/waiting': {
    readonly query: {};
    readonly answer: Waiting;
  };
};

export type Sends = {
  readonly '/api/v1/jobs/createTask': {
    readonly body: TaskRequest;
    readonly answer: CreatedTask | TaskRecord;
  };
  readonly '/api/v1/jobs/price': {
    readonly body: TaskRequest;
    readonly answer: TaskPrice;
  };
  readonly '/api/v1/uploads': {
    readonly body: {};
    readonly answer: UploadedMedia;
  };
  readonly '/api/v1/jobs/cancelTask': {
    readonly body: {
      readonly taskId: string;
    };
    readonly answer: CancelledTask;
  };
  readonly '/api/v1/jobs/cancelTasks': {
    readonly body: {
      readonly taskIds: readonly string[];
    };
    readonly answer: {
      /** One for each task that was found. */
      readonly tasks: readonly CancelledTask[];
      /** The number of ids that no task has. */
      readonly notFound: number;
    };
  };
  readonly '/api/v1/jobs/deleteTask': {
    readonly body: {
      readonly taskId: string;
    };
    readonly answer: DeletedTask;
  };
  readonly '/api/v1/jobs/deleteTasks': {
    readonly body: {
      readonly taskIds: readonly string[];
    };
    readonly answer: {
      /** One for each task that was found. */
      readonly tasks: readonly TaskDeletion[];
      /** The number of ids that no task has. */
      readonly notFound: number;
    };
  };
  readonly '/api/v1/gallery/label': {
    readonly body: {
      readonly taskIds: readonly string[];
      readonly favorite?: boolean | null | undefined;
      /** 1 to 40 characters each. Upper and lower case are the same. */
      readonly addTags?: readonly string[] | null | undefined;
      /** 1 to 40 characters each. Upper and lower case are the same. */
      readonly removeTags?: readonly string[] | null | undefined;
    };
    readonly answer: LabeledVideos;
  };
  readonly '/api/v1/gallery/archive': {
    readonly body: {
      readonly taskIds: readonly string[];
    };
    readonly answer: {
      readonly url: string;
      /** The bytes of the videos. */
      readonly bytes: number;
      readonly expireTime: number;
    };
  };
  readonly '/api/v1/gallery/share': {
    readonly body: {
      readonly taskId: string;
      /** The title on the page. */
      readonly title?: string | null | undefined;
      readonly showsAccountName?: boolean | null | undefined;
      /** Unix milliseconds, at most 366 days from now; 7 days from now by default. */
      readonly expireTime?: number | null | undefined;
    };
    readonly answer: {
      readonly link: ShareLink;
      /** The address of the page. It is not shown again. */
      readonly url: string;
    };
  };
  readonly '/api/v1/gallery/revokeLink': {
    readonly body: {
      readonly linkId: string;
    };
    readonly answer: RevokedShareLink;
  };
  readonly '/api/v1/credits/low-balance': {
    readonly body: {
      readonly lowBalance: number | null;
    };
    readonly answer: {
      readonly lowBalance: number | null;
    };
  };
  readonly '/api/v1/callbacks/redeliver': {
    readonly body: {
      readonly taskId: string;
    };
    readonly answer: {
      readonly taskId: string;
      readonly webhookId: string;
    };
  };
  readonly '/api/v1/callbacks/redeliver-failed': {
    readonly body: {
      /** Unix milliseconds. */
      readonly since: number;
    };
    readonly answer: {
      readonly redelivered: number;
      readonly hasMore: boolean;
    };
  };
  readonly '/api/v1/callbacks/secret': {
    readonly body: {};
    readonly answer: {
      /** `whsec_…`, in the format of Standard Webhooks. */
      readonly secret: string;
    };
  };
  readonly '/api/v1/callbacks/secret/rotate': {
    readonly body: {
      readonly overlapSeconds?: number | undefined;
    };
    readonly answer: {
      readonly secret: string;
      readonly overlapSeconds: number;
    };
  };
  readonly '/api/v1/callbacks/test': {
    readonly body: {
      readonly url: string;
    };
    readonly answer: {
      readonly webhookId: string;
      /** The response status of the receiver; null if it was unreachable. */
      readonly status: number | null;
      /** Why nothing was delivered, other than by the status. `redirected`: redirects are not followed; register the URL that they lead to, such as the one with https:// or www. `unreachable`: the name does not resolve, or leads to an address that is not public. The other errors are those of public receivers that gave no response. */
      readonly error: 'unreachable' | 'refused' | 'tls' | 'timeout' | 'closed' | 'redirected' | null;
      /** True for any 2xx, which counts as delivered. */
      readonly delivered: boolean;
    };
  };
  readonly '/api/v1/events/endpoint': {
    readonly body: {
      readonly url: string;
      readonly types:
        | readonly ('task.succeeded' | 'task.failed' | 'task.cancelled' | 'balance.low' | 'key.cap_reached')[];
    };
    readonly answer: {
      readonly endpoint: EventEndpoint | null;
    };
  };
  readonly '/api/v1/events/endpoint/remove': {
    readonly body: {};
    readonly answer: {
      readonly endpoint: null;
    };
  };
  readonly '/api/v1/events/redeliver': {
    readonly body: {
      readonly eventId: string;
    };
    readonly answer: {
      readonly eventId: string;
      readonly webhookId: string;
    };
  };
  readonly '/api/v1/events/redeliver-failed': {
    readonly body: {
      /** Unix milliseconds. */
      readonly since: number;
    };
    readonly answer: {
      readonly redelivered: number;
      readonly hasMore: boolean;
    };
  };
  readonly '/api/v1/events/secret': {
    readonly body: {};
    readonly answer: {
      /** `whsec_…`, in the format of Standard Webhooks. */
      readonly secret: string;
    };
  };
  readonly '/api/v1/events/secret/rotate': {
    readonly body: {
      readonly overlapSeconds?: number | undefined;
    };
    readonly answer: {
      readonly secret: string;
      readonly overlapSeconds: number;
    };
  };
  readonly '/api/v1/events/test': {
    readonly body: {
      readonly type?:
        | 'task.succeeded'
        | 'task.failed'
        | 'task.cancelled'
        | 'balance.low'
        | 'key.cap_reached'
        | undefined;
    };
    readonly answer: {
      readonly webhookId: string;
      /** The response status of the receiver; null if it was unreachable. */
      readonly status: number | null;
      /** Why nothing was delivered, other than by the status. `redirected`: redirects are not followed; register the URL that they lead to, such as the one with https:// or www. `unreachable`: the name does not resolve, or leads to an address that is not public. The other errors are those of public receivers that gave no response. */
      readonly error: 'unreachable' | 'refused' | 'tls' | 'timeout' | 'closed' | 'redirected' | null;
      /** True for any 2xx, which counts as delivered. */
      readonly delivered: boolean;
    };
  };
  readonly '/api/v1/keys': {
    readonly body: {
      readonly name: string;
      /** A subset of the scopes of the calling key. By default, those of `tasks:write`, `tasks:read` and `credits:read` that it has. */
      readonly scopes?:
        | readonly ('tasks:write' | 'tasks:read' | 'credits:read' | 'callbacks:secret' | 'content:delete' | 'keys:write')[]
        | null
        | undefined;
      /** `native` by default; `kie` for clients of kie.ai's API. Cannot be changed. */
      readonly dialect?: 'native' | 'kie' | null | undefined;
      /** The models that it may use; all by default. Cannot be changed. */
      readonly models?: readonly string[] | null | undefined;
      /** Makes identical creates by this key within a minute one task, unless they have an `Idempotency-Key`. For clients that repeat a create whose response was lost and cannot mark it. Two videos of one prompt then need different seeds. */
      readonly mergeRepeats?: boolean | null | undefined;
      /** Limits of its spending, in credits by day and month (UTC) and in total. */
      readonly caps?: {
        readonly day?: number | null | undefined;
        readonly month?: number | null | undefined;
        readonly total?: number | null | undefined;
      } | null | undefined;
      /** Unix milliseconds; never expires by default. */
      readonly expireTime?: number | null | undefined;
    };
    readonly answer: NewApiKey;
  };
  readonly '/api/v1/keys/rotate': {
    readonly body: {
      readonly keyId: string;
      readonly overlapSeconds?: number | undefined;
    };
    readonly answer: RotatedApiKey;
  };
  readonly '/api/v1/keys/revoke': {
    readonly body: {
      readonly keyId: string;
    };
    readonly answer: {
      readonly keyId: string;
      readonly revokeTime: number;
    };
  };
  readonly '/api/v1/caps': {
    readonly body: {
      readonly keyId?: string | null | undefined;
      readonly userId?: string | null | undefined;
      readonly day?: number | null | undefined;
      readonly month?: number | null | undefined;
      readonly total?: number | null | undefined;
    };
    readonly answer: {
      readonly caps: readonly SpendCap[];
    };
  };
  readonly '/api/console/v1/links/show': {
    readonly body: {
      readonly token: string;
    };
    readonly answer: {
      readonly purpose: 'setup' | 'invite' | 'reset' | 'confirm';
      readonly email: string | null;
      readonly accountName: string | null;
      readonly role: 'owner' | 'member' | 'viewer' | null;
      /** The person accepts an invitation with their existing password. */
      readonly userExists: boolean;
      readonly expireTime: number;
    };
  };
  readonly '/api/console/v1/links/accept': {
    readonly body: {
      readonly token: string;
      /** Only for a setup link. */
      readonly email?: string | null | undefined;
      readonly password: string;
      /** The name of the account that a sign-up opens. */
      readonly accountName?: string | null | undefined;
    };
    readonly answer: Me;
  };
  readonly '/api/console/v1/sign-in': {
    readonly body: {
      readonly email: string;
      readonly password: string;
    };
    readonly answer: Me;
  };
  readonly '/api/console/v1/sign-out': {
    readonly body: {};
    readonly answer: {};
  };
  readonly '/api/console/v1/reauthenticate': {
    readonly body: {
      readonly password: string;
    };
    readonly answer: Me;
  };
  readonly '/api/console/v1/sign-up': {
    readonly body: {
      readonly email: string;
      /** A redemption code, if the sign-up requires one. The new account redeems it. */
      readonly code?: string | null | undefined;
    };
    readonly answer: {};
  };
  readonly '/api/console/v1/sessions/end': {
    readonly body: {
      readonly sessionId: string;
    };
    readonly answer: {
      readonly sessionId: string;
    };
  };
  readonly '/api/console/v1/sessions/end-others': {
    readonly body: {};
    readonly answer: {
      readonly ended: number;
    };
  };
  readonly '/api/console/v1/password': {
    readonly body: {
      readonly currentPassword: string;
      readonly newPassword: string;
    };
    readonly answer: Me;
  };
  readonly '/api/console/v1/view': {
    readonly body: {
      readonly accountId: string;
      /** Recorded in the audit log. */
      readonly reason: string;
    };
    readonly answer: Me;
  };
  readonly '/api/console/v1/view/end': {
    readonly body: {};
    readonly answer: Me;
  };
  readonly '/api/console/v1/passkeys/register-options': {
    readonly body: {};
    /** WebAuthn options for `@simplewebauthn/browser`. */
    readonly answer: Readonly<Record<string, unknown>>;
  };
  readonly '/api/console/v1/passkeys/register': {
    readonly body: {
      /** Such as the device that the passkey is on. */
      readonly name: string;
      /** The result of `@simplewebauthn/browser`. */
      readonly response: Readonly<Record<string, unknown>>;
    };
    readonly answer: Passkey;
  };
  readonly '/api/console/v1/passkeys/sign-in-options': {
    readonly body: {};
    /** WebAuthn options for `@simplewebauthn/browser`. */
    readonly answer: Readonly<Record<string, unknown>>;
  };
  readonly '/api/console/v1/passkeys/sign-in': {
    readonly body: {
      /** The result of `@simplewebauthn/browser`. */
      readonly response: Readonly<Record<string, unknown>>;
    };
    readonly answer: Me;
  };
  readonly '/api/console/v1/passkeys/remove': {
    readonly body: {
      readonly passkeyId: string;
    };
    readonly answer: {
      readonly passkeyId: string;
    };
  };
  readonly '/api/console/v1/members/invite': {
    readonly body: {
      readonly email: string;
      readonly role: 'owner' | 'member' | 'viewer';
    };
    readonly answer: MemberInvitation;
  };
  readonly '/api/console/v1/members/role': {
    readonly body: {
      readonly userId: string;
      readonly role: 'owner' | 'member' | 'viewer';
    };
    readonly answer: {
      readonly userId: string;
      readonly role: 'owner' | 'member' | 'viewer';
    };
  };
  readonly '/api/console/v1/members/remove': {
    readonly body: {
      readonly userId: string;
    };
    readonly answer: {
      readonly userId: string;
    };
  };
  readonly '/api/console/v1/members/withdraw': {
    readonly body: {
      readonly linkId: string;
    };
    readonly answer: {
      readonly linkId: string;
    };
  };
  readonly '/api/console/v1/account/rename': {
    readonly body: {
      readonly name: string;
    };
    readonly answer: {
      readonly accountId: string;
      readonly name: string;
    };
  };
  readonly '/api/console/v1/account/close': {
    readonly body: {
      readonly accountId: string;
    };
    readonly answer: {
      readonly accountId: string;
    };
  };
  readonly '/api/console/v1/credits/redeem': {
    readonly body: {
      readonly code: string;
    };
    readonly answer: {
      readonly entry: LedgerEntry;
    };
  };
  readonly '/api/console/v1/credits/top-ups': {
    readonly body: {
      /** The name of a package. */
      readonly package: string;
    };
    readonly answer: {
      readonly topUpId: string;
      readonly checkoutUrl: string;
      readonly expireTime: number;
    };
  };
  readonly '/api/admin/v1/accounts': {
    readonly body: {
      readonly name: string;
      /** The opening balance. */
      readonly credits?: number | undefined;
    };
    readonly answer: Account;
  };
  readonly '/api/admin/v1/accounts/rename': {
    readonly body: {
      readonly accountId: string;
      readonly name: string;
    };
    readonly answer: Account;
  };
  readonly '/api/admin/v1/accounts/suspend': {
    readonly body: {
      readonly accountId: string;
      /** Recorded in the audit log. */
      readonly reason: string;
    };
    readonly answer: Account;
  };
  readonly '/api/admin/v1/accounts/unsuspend': {
    readonly body: {
      readonly accountId: string;
      /** Recorded in the audit log. */
      readonly reason: string;
    };
    readonly answer: Account;
  };
  readonly '/api/admin/v1/accounts/limits': {
    readonly body: {
      readonly accountId: string;
      readonly maxUnfinishedTasks?: number | undefined;
      /** Null for the default rate. */
      readonly creates?: {
        readonly quota: number;
        readonly windowSeconds: number;
      } | null | undefined;
    };
    readonly answer: Account;
  };
  readonly '/api/admin/v1/accounts/close': {
    readonly body: {
      readonly accountId: string;
      /** Recorded in the audit log. */
      readonly reason: string;
    };
    readonly answer: Account;
  };
  readonly '/api/admin/v1/credits/grant': {
    readonly body: {
      readonly accountId: string;
      readonly credits: number;
      /** Recorded in the audit log. */
      readonly reason: string;
    };
    readonly answer: {
      readonly accountId: string;
      readonly entry: LedgerEntry;
    };
  };
  readonly '/api/admin/v1/credits/adjust': {
    readonly body: {
      readonly accountId: string;
      readonly amount: number;
      /** Recorded in the audit log. */
      readonly reason: string;
    };
    readonly answer: {
      readonly accountId: string;
      readonly entry: LedgerEntry;
    };
  };
  readonly '/api/admin/v1/prices/set': {
    readonly body: {
      readonly model: string;
      /** The price of the model. Omit it for a model that has only one. */
      readonly priceName?: string | null | undefined;
      /** Null, and no `creditsPerVideo`: return to the list price, or without an account to the price of the catalogue. */
      readonly creditsPerSecond: number | null;
      /** Added once for each video; 0 by default. */
      readonly creditsPerVideo?: number | null | undefined;
      /** Omit it to set the list price. */
      readonly accountId?: string | null | undefined;
      /** Unix milliseconds; by default as soon as possible. */
      readonly fromTime?: number | null | undefined;
      /** Recorded in the audit log. */
      readonly reason: string;
    };
    readonly answer: SetPrice;
  };
  readonly '/api/admin/v1/prices/withdraw': {
    readonly body: {
      readonly priceId: number;
      /** Recorded in the audit log. */
      readonly reason: string;
    };
    readonly answer: SetPrice;
  };
  readonly '/api/admin/v1/codes': {
    readonly body: {
      /** Shown in the ledger of accounts that redeem one. */
      readonly name: string;
      readonly credits: number;
      readonly codes: number;
      readonly expireTime?: number | null | undefined;
    };
    readonly answer: {
      readonly batchId: string;
      readonly codes: readonly string[];
    };
  };
  readonly '/api/admin/v1/codes/withdraw': {
    readonly body: {
      readonly batchId: string;
      /** Recorded in the audit log. */
      readonly reason: string;
    };
    readonly answer: CodeBatch;
  };
  readonly '/api/admin/v1/providers/set': {
    readonly body: {
      readonly provider: string;
      readonly state: 'enabled' | 'draining' | 'off';
      /** Recorded in the audit log. */
      readonly reason: string;
    };
    readonly answer: Provider;
  };
  readonly '/api/admin/v1/providers/test': {
    readonly body: {
      readonly provider: string;
    };
    readonly answer: ProviderTest;
  };
  readonly '/api/admin/v1/keys': {
    readonly body: {
      readonly accountId: string;
      readonly name: string;
      /** By default `tasks:write`, `tasks:read` and `credits:read`. */
      readonly scopes?:
        | readonly ('tasks:write' | 'tasks:read' | 'credits:read' | 'callbacks:secret' | 'content:delete' | 'keys:write')[]
        | null
        | undefined;
      /** `native` by default; `kie` for clients of kie.ai's API. Cannot be changed. */
      readonly dialect?: 'native' | 'kie' | null | undefined;
      /** The models that it may use; all by default. Cannot be changed. */
      readonly models?: readonly string[] | null | undefined;
      /** Makes identical creates by this key within a minute one task, unless they have an `Idempotency-Key`. For clients that repeat a create whose response was lost and cannot mark it. Two videos of one prompt then need different seeds. */
      readonly mergeRepeats?: boolean | null | undefined;
      /** Limits of its spending, in credits by day and month (UTC) and in total. */
      readonly caps?: {
        readonly day?: number | null | undefined;
        readonly month?: number | null | undefined;
        readonly total?: number | null | undefined;
      } | null | undefined;
      /** Unix milliseconds; never expires by default. */
      readonly expireTime?: number | null | undefined;
    };
    readonly answer: NewApiKeyOfAccount;
  };
  readonly '/api/admin/v1/keys/revoke': {
    readonly body: {
      readonly keyId: string;
    };
    readonly answer: {
      readonly keyId: string;
      readonly revokeTime: number;
    };
  };
  readonly '/api/admin/v1/tasks/cancel': {
    readonly body: {
      readonly taskId: string;
      /** Recorded in the audit log. */
      readonly reason: string;
    };
    readonly answer: CancelledTask;
  };
  readonly '/api/admin/v1/tasks/cancel-many': {
    readonly body: {
      readonly taskIds: readonly string[];
      /** Recorded in the audit log. */
      readonly reason: string;
    };
    readonly answer: {
      /** One for each task that was found. */
      readonly tasks: readonly CancelledTask[];
      /** The number of ids that no task has. */
      readonly notFound: number;
    };
  };
  readonly '/api/admin/v1/tasks/delete': {
    readonly body: {
      readonly taskId: string;
      /** Recorded in the audit log. */
      readonly reason: string;
    };
    readonly answer: DeletedTask;
  };
  readonly '/api/admin/v1/callbacks/redeliver': {
    readonly body: {
      readonly taskId: string;
    };
    readonly answer: OperatorCallback;
  };
  readonly '/api/admin/v1/people/invite': {
    readonly body: {
      readonly email: string;
      readonly isOperator?: boolean | null | undefined;
      readonly accountId?: string | null | undefined;
      /** `member` by default. */
      readonly role?: 'owner' | 'member' | 'viewer' | null | undefined;
    };
    readonly answer: NewLink;
  };
  readonly '/api/admin/v1/people/withdraw': {
    readonly body: {
      readonly linkId: string;
    };
    readonly answer: {
      readonly linkId: string;
    };
  };
  readonly '/api/admin/v1/people/reset': {
    readonly body: {
      readonly userId: string;
    };
    readonly answer: NewLink;
  };
  readonly '/api/admin/v1/people/disable': {
    readonly body: {
      readonly userId: string;
    };
    readonly answer: {
      readonly userId: string;
    };
  };
  readonly '/api/admin/v1/people/enable': {
    readonly body: {
      readonly userId: string;
    };
    readonly answer: {
      readonly userId: string;
    };
  };
  readonly '/api/admin/v1/people/end-sessions': {
    readonly body: {
      readonly userId: string;
    };
    readonly answer: {
      readonly userId: string;
    };
  };
  readonly '/api/admin/v1/people/operator': {
    readonly body: {
      readonly userId: string;
      readonly isOperator: boolean;
    };
    readonly answer: {
      readonly userId: string;
    };
  };
  readonly '/api/admin/v1/people/erase': {
    readonly body: {
      readonly userId: string;
    };
    readonly answer: {
      readonly userId: string;
    };
  };
  readonly '/api/admin/v1/sign-ups/link': {
    readonly body: {
      readonly linkId: string;
    };
    readonly answer: NewLink;
  };
  readonly '/api/admin/v1/announcement': {
    readonly body: {
      readonly text: string;
      readonly level?: 'info' | 'warning' | undefined;
      readonly link?: string | undefined;
      /** Unix milliseconds; by default, it stays. */
      readonly endTime?: number | undefined;
    };
    readonly answer: {
      readonly announcement: Announcement | null;
    };
  };
  readonly '/api/admin/v1/announcement/remove': {
    readonly body: {};
    readonly answer: {
      readonly announcement: Announcement | null;
    };
  };
  readonly '/api/admin/v1/tasks/retry': {
    readonly body: {
      readonly taskId: string;
      /** Recorded in the audit log. */
      readonly reason: string;
    };
    readonly answer: {
      /** False if the task has ended. */
      readonly isRetried: boolean;
    };
  };
  readonly '/api/admin/v1/providers/retry': {
    readonly body: {
      readonly provider: string;
      /** Recorded in the audit log. */
      readonly reason: string;
    };
    readonly answer: {
      /** The number of tasks that are retried. */
      readonly tasks: number;
    };
  };
};
