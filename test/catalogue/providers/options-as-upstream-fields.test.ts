import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isVllmField,
  optionsAsUpstreamFields,
  isOptionPassedUpstream,
} from '../../../src/catalogue/providers/options-as-upstream-fields.ts';

/** What the task, its price or this service decides in a request to each API, as its reference spells it. */
const ofTask = {
  ark: `model content ratio resolution duration frames seed generate_audio callback_url safety_identifier
    execution_expires_after`,
  'openai-videos': `model prompt negative_prompt seconds duration size width height aspect_ratio short_edge num_frames seed
    generate_sound n num_outputs_per_prompt user extra_params task input_reference input_references image_reference
    video_reference audio_reference reference_url video_url video_path output_path control_reference control_type lora
    frame_interpolation_model_path upscaling_model_path return_stage_metrics`,
} as const;

/** Fields of the form that vLLM-Omni reads, by the option that sets each. */
const ofVllm = {
  fps: 'fps',
  steps: 'num_inference_steps',
  numInferenceSteps: 'num_inference_steps',
  guidanceScale: 'guidance_scale',
  guidanceScale2: 'guidance_scale_2',
  boundaryRatio: 'boundary_ratio',
  flowShift: 'flow_shift',
  trueCfgScale: 'true_cfg_scale',
  soundDuration: 'sound_duration',
  startTimeSeconds: 'start_time_seconds',
  quality: 'quality',
  enableFrameInterpolation: 'enable_frame_interpolation',
  frameInterpolationExp: 'frame_interpolation_exp',
  frameInterpolationScale: 'frame_interpolation_scale',
};

test('no option of a model replaces a field that the task decides, under either spelling', () => {
  for (const kind of ['ark', 'openai-videos'] as const) {
    for (const field of ofTask[kind].split(/\s+/)) {
      const option = field.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
      for (const name of [field, option]) {
        assert.equal(isOptionPassedUpstream(kind, name), false, `${kind}: ${name}`);
        assert.deepEqual(optionsAsUpstreamFields(kind, { [name]: 1, cameraFixed: true }), { camera_fixed: true });
      }
    }
  }
});

test('an option of vLLM-Omni is the field of its form, also with a number in its name', () => {
  for (const [option, field] of Object.entries(ofVllm)) {
    assert.deepEqual(optionsAsUpstreamFields('openai-videos', { [option]: 2 }), { [field]: 2 });
    assert.ok(isVllmField(field), field);
  }
  assert.ok(!isVllmField('camera_fixed'));
});
