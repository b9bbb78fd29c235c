// Written by "npm run openapi" from openapi.json; do not edit. The types of the service's own requests and answers.

export type ErrorCode =
  | 'acceptance_reverted'
  | 'acceptance_unknown'
  | 'account_closed'
  | 'account_not_found'
  | 'account_suspended'
  | 'already_member'
  | 'archive_running'
  | 'attempt_not_found'
  | 'balance_out_of_range'
  | 'body_not_object'
  | 'body_too_large'
  | 'body_unreadable'
  | 'callback_secret_already_shown'
  | 'callback_test_running'
  | 'cap_subject_not_found'
  | 'code_batch_not_found'
  | 'code_invalid'
  | 'content_deleted'
  | 'content_refused'
  | 'cross_site_request'
  | 'database_busy'
  | 'database_unavailable'
  | 'dialect_required'
  | 'disk_full'
  | 'duplicate_json_key'
  | 'email_domain_not_allowed'
  | 'event_endpoint_not_found'
  | 'event_invalid'
  | 'event_not_found'
  | 'headers_too_large'
  | 'idempotency_key_reused'
  | 'insufficient_credits'
  | 'internal'
  | 'invalid_json'
  | 'invalid_request'
  | 'key_not_active'
  | 'key_not_found'
  | 'last_operator'
  | 'last_owner'
  | 'link_not_found'
  | 'malformed_form'
  | 'malformed_request'
  | 'media_deleted'
  | 'member_not_found'
  | 'misdirected_request'
  | 'model_not_allowed'
  | 'model_unavailable'
  | 'moderation_unavailable'
  | 'not_ready'
  | 'not_signed_in'
  | 'owner_required'
  | 'package_not_found'
  | 'package_unavailable'
  | 'passkey_not_found'
  | 'passkeys_unavailable'
  | 'password_sign_in_off'
  | 'payments_disabled'
  | 'payments_unavailable'
  | 'person_not_found'
  | 'price_in_force'
  | 'price_not_found'
  | 'rate_limited'
  | 'read_only_view'
  | 'reauthentication_required'
  | 'request_timeout'
  | 'scope_missing'
  | 'session_not_found'
  | 'share_link_not_found'
  | 'sign_in_failed'
  | 'sign_up_not_found'
  | 'sign_up_off'
  | 'spend_cap_reached'
  | 'task_not_finished'
  | 'task_not_found'
  | 'tests_busy'
  | 'too_many_bad_keys'
  | 'too_many_code_attempts'
  | 'too_many_invitations'
  | 'too_many_keys'
  | 'too_many_mails'
  | 'too_many_passkeys'
  | 'too_many_provider_tests'
  | 'too_many_refused_creates'
  | 'too_many_share_links'
  | 'too_many_sign_ins'
  | 'too_many_sign_ups'
  | 'too_many_tags'
  | 'too_many_top_ups'
  | 'too_many_unfinished_tasks'
  | 'too_many_uploads'
  | 'unauthorized'
  | 'unknown_endpoint'
  | 'unsupported_encoding'
  | 'unsupported_media_type'
  | 'uploads_busy'
  | 'url_too_long';

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

export type DeletedTask = {
  readonly taskId: string;
  readonly contentDeleteTime: number;
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

export type TaskQuery = {
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

export type TaskPage = {
  readonly tasks: readonly ListedTask[];
  /** Pass it as `cursor` to get the next page; null on the last page. */
  readonly nextCursor: string | null;
};

export type LedgerQuery = {
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

export type Credits = {
  /** Below zero after a payment for credits that are spent was returned. */
  readonly balance: number;
  readonly entries: readonly LedgerEntry[];
  /** Pass it as `cursor` to get the next page; null on the last page. */
  readonly nextCursor: string | null;
};

export type CallbackQuery = {
  readonly taskId?: string | undefined;
  readonly state?: 'pending' | 'delivered' | 'failed' | 'rejected' | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
};

export type CallbackPage = {
  readonly callbacks: readonly Callback[];
  /** Pass it as `cursor` to get the next page; null on the last page. */
  readonly nextCursor: string | null;
};

export type Catalogue = {
  readonly models: readonly Model[];
  readonly limits: Limits;
};

export type Keys = {
  readonly keys: readonly UsedApiKey[];
};

export type KeyRequest = {
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

export type RevokedKey = {
  readonly keyId: string;
  readonly revokeTime: number;
};

export type MediaType =
  | 'image/jpeg'
  | 'image/png'
  | 'image/webp'
  | 'image/heic'
  | 'image/heif'
  | 'image/avif'
  | 'image/gif'
  | 'image/bmp'
  | 'image/tiff'
  | 'video/mp4'
  | 'video/quicktime'
  | 'video/webm'
  | 'video/x-matroska'
  | 'video/x-msvideo'
  | 'audio/mpeg'
  | 'audio/mp3'
  | 'audio/wav'
  | 'audio/x-wav'
  | 'audio/vnd.wave'
  | 'audio/mp4'
  | 'audio/x-m4a'
  | 'audio/aac'
  | 'audio/ogg'
  | 'audio/webm'
  | 'audio/flac'
  | 'audio/x-flac'
  | 'audio/aiff'
  | 'audio/x-aiff'
  | 'application/octet-stream';

export type Reads = {
  readonly '/api/v1/jobs/recordInfo': {
    readonly query: {
      readonly taskId: string;
    };
    readonly answer: TaskRecord;
  };
  readonly '/api/v1/jobs/timeline': {
    readonly query: {
      readonly taskId: string;
    };
    readonly answer: TaskTimeline;
  };
  readonly '/api/v1/jobs/listTasks': {
    readonly query: TaskQuery;
    readonly answer: TaskPage;
  };
  readonly '/api/v1/credits': {
    readonly query: LedgerQuery;
    readonly answer: Credits;
  };
  readonly '/api/v1/callbacks': {
    readonly query: CallbackQuery;
    readonly answer: CallbackPage;
  };
  readonly '/api/v1/models': {
    readonly query: {};
    readonly answer: Catalogue;
  };
  readonly '/api/v1/keys': {
    readonly query: {};
    readonly answer: Keys;
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
  readonly '/api/v1/jobs/deleteTask': {
    readonly body: {
      readonly taskId: string;
    };
    readonly answer: DeletedTask;
  };
  readonly '/api/v1/keys': {
    readonly body: KeyRequest;
    readonly answer: NewApiKey;
  };
  readonly '/api/v1/keys/revoke': {
    readonly body: {
      readonly keyId: string;
    };
    readonly answer: RevokedKey;
  };
};
