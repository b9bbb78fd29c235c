import type { OptionValue } from '../input/extra-model-options.ts';

// A model's own options as fields of a request to an upstream. The task decides some fields of each API, which no option may set.

/** Returns `camera_fixed` for `cameraFixed`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Fields of a create request at Ark that the task decides. */
export const arkFieldsSetByTask = ['model', 'content', 'ratio', 'duration', 'generate_audio', 'callback_url'].concat([
  'safety_identifier',
  'execution_expires_after',
]);

/** Fields of `POST /videos` that the task decides, and those that name files, addresses or a number of videos. */
const videosFields = ['model', 'prompt', 'negative_prompt', 'seconds', 'size', 'width', 'height', 'num_frames', 'seed']
  .concat(['generate_sound', 'aspect_ratio', 'short_edge', 'n', 'num_outputs_per_prompt', 'user', 'extra_params'])
  .concat(['input_reference', 'input_references', 'image_reference', 'video_reference', 'audio_reference'])
  .concat(['reference_url', 'video_url', 'video_path', 'output_path', 'control_reference', 'control_type'])
  .concat(['lora', 'frame_interpolation_model_path', 'upscaling_model_path', 'return_stage_metrics']);

/** Fields that vLLM-Omni reads from the form. Its `extra_params` contain everything else. */
const vllmFields = ['fps', 'num_inference_steps', 'guidance_scale', 'guidance_scale_2', 'boundary_ratio', 'flow_shift']
  .concat(['true_cfg_scale', 'sound_duration', 'start_time_seconds', 'quality', 'enable_frame_interpolation'])
  .concat(['frame_interpolation_exp', 'frame_interpolation_scale']);

const reserved = {
  ark: new Set([...arkFieldsSetByTask, 'resolution', 'seed', 'frames']),
  'openai-videos': new Set([...videosFields, 'duration', 'task']),
} as const;

type Kind = keyof typeof reserved;

export function isOptionPassedUpstream(kind: Kind, name: string): boolean {
  return !reserved[kind].has(upstreamName(kind, name));
}

export function optionsAsUpstreamFields(
  kind: Kind,
  options: Readonly<Record<string, OptionValue>> = {},
): Readonly<Record<string, OptionValue>> {
  const passed = Object.entries(options).filter(([name]) => isOptionPassedUpstream(kind, name));
  return Object.fromEntries(passed.map(([name, value]) => [upstreamName(kind, name), value]));
}

export function isVllmField(name: string): boolean {
  return vllmFields.includes(name);
}

/** The known names of fields contain numbers, as in `guidance_scale_2`. `steps` is the name of the parameter in the catalogue. */
function upstreamName(kind: Kind, name: string): string {
  if (kind === 'ark') return snakeCase(name);
  if (name === 'steps') return 'num_inference_steps';
  return vllmFields.find((known) => known.replaceAll('_', '') === name.toLowerCase()) ?? snakeCase(name);
}
