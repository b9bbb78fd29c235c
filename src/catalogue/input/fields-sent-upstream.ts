import { fieldsPassedByFile } from '../providers/fields-passed-by-provider-file.ts';
import { isOptionPassedUpstream } from '../providers/options-as-upstream-fields.ts';
import { isMinimaxH3 } from '../providers/is-minimax-h3.ts';
import {
  fieldsPassedByTemplate,
  readsOption,
  type FieldsReadByTemplate,
} from '../providers/input-template-placeholders.ts';
import type { FieldName } from './task-input.ts';
import type { ReferencedFilesByName } from '../file/cross-checks.ts';
import type { TierEntry } from '../file/catalogue-schema-and-types.ts';
import type { ProviderKind, ProviderSettings } from '../file/provider-schema.ts';

// The fields of an input that each kind of provider sends to its upstream. Clients must not be able to buy one that is ignored.

type Entry = Pick<TierEntry, 'upstreamModel' | 'parameters'>;

/** A field of the vocabulary, or `options.NAME`. */
export type FieldOrOptionName = FieldName | `options.${string}`;

export type PassedFields = { readonly has: (field: FieldOrOptionName) => boolean };

/** The upstreams whose requests are built by code; templates and files of the other kinds contain what they send. */
type Sender = Exclude<ProviderKind, TemplateKind | 'openai-videos'> | Dialect;
type TemplateKind = 'comfyui' | 'comfy-v2' | 'cog' | 'http';
type Dialect = Extract<ProviderSettings, { kind: 'openai-videos' }>['dialect'];

/** `by-link`: the upstream fetches it below PUBLIC_URL. */
type Decision = 'sent' | 'ignored' | 'by-link';
type DecisionOf<Subject> = Decision | ((subject: Subject) => Decision);
type Decisions = Readonly<Record<Exclude<FieldName, 'options'>, DecisionOf<Entry>>> & {
  /** By the name of the option. */
  readonly options: DecisionOf<string>;
};

const [sent, ignored, byLink] = ['sent', 'ignored', 'by-link'] as const;

/**
 * A new kind, or a new field of the vocabulary, does not compile until each field is decided for each kind. No kind takes over the
 * decisions of another one, because a client could then buy what its upstream never receives.
 */
const decisions: Readonly<Record<Sender, Decisions>> = {
  own: {
    prompt: sent,
    negativePrompt: sent,
    resolution: sent,
    duration: sent,
    ratio: sent,
    generateAudio: sent,
    imageUrls: sent,
    firstFrameUrl: sent,
    lastFrameUrl: sent,
    videoUrls: byLink,
    audioUrls: byLink,
    seed: sent,
    options: sent,
  },
  ark: {
    prompt: sent,
    negativePrompt: ignored,
    resolution: sent,
    duration: sent,
    ratio: sent,
    generateAudio: sent,
    imageUrls: sent,
    firstFrameUrl: sent,
    lastFrameUrl: sent,
    videoUrls: byLink,
    audioUrls: byLink,
    // Seedance 2 documents no seed, and the one in its records cannot be chosen.
    seed: ({ upstreamModel }) => (upstreamModel.includes('seedance-2') ? ignored : sent),
    options: (name) => (isOptionPassedUpstream('ark', name) ? sent : ignored),
  },
  preview: {
    prompt: sent,
    negativePrompt: ignored,
    resolution: sent,
    duration: sent,
    ratio: sent,
    generateAudio: sent,
    imageUrls: sent,
    firstFrameUrl: sent,
    lastFrameUrl: sent,
    videoUrls: ignored,
    audioUrls: ignored,
    seed: sent,
    options: ignored,
  },
  'vllm-omni': {
    prompt: sent,
    negativePrompt: sent,
    resolution: sent,
    duration: sent,
    ratio: sent,
    generateAudio: sent,
    imageUrls: sent,
    firstFrameUrl: sent,
    // MiniMax-H3 takes two frames; the other models of this server begin with their only image.
    lastFrameUrl: ({ upstreamModel }) => (isMinimaxH3(upstreamModel) ? sent : ignored),
    videoUrls: ignored,
    audioUrls: ignored,
    seed: sent,
    options: videosOption,
  },
  sglang: {
    prompt: sent,
    negativePrompt: sent,
    resolution: sent,
    duration: sent,
    ratio: sent,
    generateAudio: ignored,
    imageUrls: sent,
    firstFrameUrl: sent,
    lastFrameUrl: ignored,
    videoUrls: ignored,
    audioUrls: ignored,
    seed: sent,
    options: videosOption,
  },
  openrouter: {
    prompt: sent,
    negativePrompt: ignored,
    resolution: sent,
    duration: sent,
    ratio: sent,
    generateAudio: sent,
    imageUrls: sent,
    firstFrameUrl: sent,
    lastFrameUrl: sent,
    videoUrls: byLink,
    audioUrls: byLink,
    seed: sent,
    options: ignored,
  },
  generic: {
    prompt: sent,
    negativePrompt: ignored,
    resolution: sent,
    duration: sent,
    ratio: sent,
    generateAudio: ignored,
    imageUrls: sent,
    firstFrameUrl: sent,
    lastFrameUrl: ignored,
    videoUrls: ignored,
    audioUrls: ignored,
    seed: ignored,
    options: videosOption,
  },
};

const imageFields = ['imageUrls', 'firstFrameUrl', 'lastFrameUrl'] as const satisfies FieldName[];
const clipFields = ['videoUrls', 'audioUrls'] as const satisfies FieldName[];

function videosOption(name: string): Decision {
  return isOptionPassedUpstream('openai-videos', name) ? sent : ignored;
}

export type PassedFieldsDeps = {
  readonly files: ReferencedFilesByName;
  /** True if the upstream can fetch media from us. */
  readonly canFetch: (settings: ProviderSettings) => boolean;
};

export function fieldsPassedByEntry(
  entry: Entry,
  settings: ProviderSettings,
  { files, canFetch }: PassedFieldsDeps,
): PassedFields {
  switch (settings.kind) {
    case 'comfyui':
    case 'comfy-v2':
      return named(fieldsPassedByTemplate(files.get(String(entry.parameters['workflow']))?.data));
    case 'cog':
      return named(fieldsPassedByTemplate(entry.parameters['input']));
    case 'http': {
      const { data, images, clips: clipsBy = 'link' } = files.get(settings.file) ?? {};
      const isFetched = [...(images === 'link' ? imageFields : []), ...(clipsBy === 'link' ? clipFields : [])];
      return named(fieldsPassedByFile(data), canFetch(settings) ? [] : isFetched);
    }
    case 'openai-videos':
      return decided(settings.dialect, entry, () => canFetch(settings));
    case 'own':
    case 'ark':
    case 'preview':
      break;
  }
  return decided(settings.kind, entry, () => canFetch(settings));
}

function decided(sender: Sender, entry: Entry, canFetch: () => boolean): PassedFields {
  const decisionFor = (field: FieldOrOptionName) => {
    const ofSender = decisions[sender];
    if (field !== 'options' && !isOption(field)) return decisionIn(ofSender[field], entry);
    return decisionIn(ofSender.options, field.slice('options.'.length));
  };
  return {
    has: (field) => {
      const decision = decisionFor(field);
      return decision === 'sent' || (decision === 'by-link' && canFetch());
    },
  };
}

function named(read: FieldsReadByTemplate, excluded: readonly FieldName[] = []): PassedFields {
  const passes = (field: FieldName) => read.fields.has(field) && !excluded.includes(field);
  return {
    has: (field) => {
      if (!isOption(field)) return passes(field);
      return readsOption(read, field.slice('options.'.length));
    },
  };
}

function decisionIn<Subject>(decision: DecisionOf<Subject>, subject: Subject): Decision {
  return typeof decision === 'function' ? decision(subject) : decision;
}

function isOption(field: FieldOrOptionName): field is `options.${string}` {
  return field.startsWith('options.');
}
