import { jpeg, mp3, mp4, type FieldTask, height, type Sent, width } from './expected-requests.ts';

// The same where a template of the operator's has a placeholder for each field.

/** A placeholder for each field, as inputs of a node of ComfyUI or of a cog model. */
export const template = {
  negative_prompt: '{{negativePrompt}}',
  resolution: '{{resolution}}',
  seconds: '{{seconds}}',
  width: '{{width}}',
  height: '{{height}}',
  ratio: '{{ratio}}',
  generate_audio: '{{generateAudio}}',
  image: '{{image:1}}',
  first_frame: '{{firstFrame}}',
  last_frame: '{{lastFrame}}',
  video: '{{video:1}}',
  audio: '{{audio:1}}',
  seed: '{{seed}}',
  camera_fixed: '{{option:cameraFixed}}',
  style: '{{option:style}}',
};

function filled(medium: (type: string, name: string) => unknown): Required<Sent> {
  return {
    prompt: {},
    negativePrompt: { negative_prompt: 'fog' },
    resolution: { resolution: '480p', width, height },
    duration: { seconds: 7 },
    ratio: { ratio: '9:16', width, height },
    generateAudio: { generate_audio: false },
    imageUrls: { image: medium(jpeg, 'image') },
    firstFrameUrl: { first_frame: medium(jpeg, 'first') },
    lastFrameUrl: { last_frame: medium(jpeg, 'last') },
    videoUrls: { video: medium(mp4, 'video') },
    audioUrls: { audio: medium(mp3, 'audio') },
    seed: { seed: 42 },
    options: { camera_fixed: true, style: 'natural' },
  };
}

const save = { class_type: 'SaveVideo', inputs: { filename_prefix: '{{prefix}}' } };
export const workflow = {
  '1': { class_type: 'CLIPTextEncode', inputs: { text: '{{prompt}}' } },
  '2': { class_type: 'EveryField', inputs: template },
  '9': save,
};

/** The parts of the graph. */
export function graphTask(medium: (type: string, name: string) => unknown): FieldTask {
  const parts = Object.entries(filled(medium)).map(([field, inputs]) => [field, { '2': { inputs } }] as const);
  return {
    always: {
      '1': { class_type: 'CLIPTextEncode' },
      '2': { class_type: 'EveryField' },
      '9': { ...save, inputs: { filename_prefix: 'videogen/the task' } },
    },
    // The same fields.
    sent: { ...(Object.fromEntries(parts) as Sent), prompt: { '1': { inputs: { text: 'the prompt' } } } },
  };
}

export const cogTask: FieldTask = {
  // The defaults of the model.
  always: { frames: 0, num_frames: 0 },
  sent: { ...filled((type, name) => `${type} ${name}`), prompt: { prompt: 'the prompt' } },
};
