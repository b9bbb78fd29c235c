{{- define "videogen.volumeMounts" -}}
{{- $values := .Values -}}
- { name: data, mountPath: /data }
- { name: tmp, mountPath: /tmp }
- { name: secrets, mountPath: /etc/videogen/secrets, readOnly: true }
{{- if include "videogen.catalogueMap" . }}
- { name: catalogue, mountPath: /etc/videogen/catalogue, readOnly: true }
{{- end }}
{{- if $values.catalogue.existingSecret }}
- { name: providers, mountPath: /etc/videogen/providers, readOnly: true }
{{- end }}
{{- if include "videogen.usesVolume" . }}
- { name: results, mountPath: /results }
{{- end }}
{{- with $values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* `.root`, and the `name` of the Secret. */}}
{{- define "videogen.secretVolume" -}}
- name: secrets
  secret:
    secretName: {{ .name }}
    defaultMode: 0440
    items:
      {{- range $setting, $key := .root.Values.secrets.keys }}
      - { key: {{ $key | quote }}, path: {{ $setting }} }
      {{- end }}
{{- end }}

{{/* `.root` and `.workSize`. Nothing of a pod outlives it, the results aside. */}}
{{- define "videogen.volumes" -}}
{{- $values := .root.Values -}}
- name: data
  emptyDir: { sizeLimit: {{ .workSize }} }
- name: tmp
  emptyDir: { sizeLimit: 64Mi }
{{ include "videogen.secretVolume" (dict "root" .root "name" (include "videogen.secretName" .root)) }}
{{- with include "videogen.catalogueMap" .root }}
- name: catalogue
  configMap: { name: {{ . }} }
{{- end }}
{{- with $values.catalogue.existingSecret }}
- name: providers
  secret: { secretName: {{ . }}, defaultMode: 0440 }
{{- end }}
{{- if include "videogen.usesVolume" .root }}
- name: results
  persistentVolumeClaim: { claimName: {{ include "videogen.claim" .root }} }
{{- end }}
{{- with $values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Also while an installation moves between a volume and a bucket. */}}
{{- define "videogen.usesVolume" -}}
{{- if or (eq .Values.results.type "volume") (hasPrefix "/results" .Values.results.also) }}yes{{ end }}
{{- end }}

{{/* What pods of every kind have alike. `.root`, and of the process: `component`, `nodeSelector`, `tolerations`, `affinity`. */}}
{{- define "videogen.podSpec" -}}
{{- $values := .root.Values -}}
automountServiceAccountToken: false
# The addresses of services would come as VIDEOGEN_… and TEMPORAL_… variables.
enableServiceLinks: false
securityContext:
  {{- toYaml $values.podSecurityContext | nindent 2 }}
{{- with $values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with merge (dict) (.nodeSelector | default dict) $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations | default $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity | default $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* `.root`, `.component`, and `.constraints`, which replace ours. Each gets the labels of the component unless it selects pods. */}}
{{- define "videogen.spread" -}}
{{- $labels := merge (dict "app.kubernetes.io/component" .component) (include "videogen.selector" .root | fromYaml) }}
{{- $ours := list (dict "maxSkew" 1 "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway") }}
topologySpreadConstraints:
{{- range .constraints | default $ours }}
  {{- toYaml (list (merge (deepCopy .) (dict "labelSelector" (dict "matchLabels" $labels)))) | nindent 2 }}
{{- end }}
{{- end }}

{{/* The number of pods, unless an autoscaler sets it. `.root`, and the `process`. */}}
{{- define "videogen.replicas" -}}
{{- if .root.Values.maintenance }}
replicas: 0
{{- else if not .process.autoscaling.enabled }}
replicas: {{ .process.replicas }}
{{- end }}
{{- end }}

{{- define "videogen.envFrom" -}}
{{- with .Values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "videogen.initContainers" -}}
{{- with .initContainers }}
initContainers:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "videogen.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Draining is bounded at 45 s by the program itself; a kill must come later than the delay and that. */}}
{{- define "videogen.grace" -}}
{{- add .Values.shutdownDelaySeconds 50 }}
{{- end }}

{{/* Where the SDK of Temporal serves its metrics in a worker; nothing by default. `.root`, and the `settings` of the group. */}}
{{- define "videogen.sdkMetricsPort" -}}
{{- $own := .settings | default dict -}}
{{- if hasKey $own "TEMPORAL_METRICS_PORT" }}{{ $own.TEMPORAL_METRICS_PORT }}{{ else }}{{ get .root.Values.settings "TEMPORAL_METRICS_PORT" }}{{ end -}}
{{- end }}

{{- define "videogen.hasSdkMetrics" -}}
{{- $root := . -}}
{{- range .Values.workers }}
{{- if and . (include "videogen.sdkMetricsPort" (dict "root" $root "settings" .settings)) }}yes{{ end }}
{{- end }}
{{- end }}

{{/* The spec of a pod that runs `.args` with the environment of the API, as `.name`. */}}
{{- define "videogen.commandPod" -}}
serviceAccountName: {{ include "videogen.serviceAccount" .root }}
{{- include "videogen.podSpec" (merge (dict "root" .root) .root.Values.api) | nindent 0 }}
# Nothing runs that would have to end first.
terminationGracePeriodSeconds: 1
containers:
  - name: {{ .name }}
    image: {{ include "videogen.image" (dict "root" .root) }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    args: {{ toJson .args }}
    {{- include "videogen.envFrom" .root | nindent 4 }}
    env:
      {{- include "videogen.env" (dict "bucketKey" true "root" .root "settings" .root.Values.api.settings) | trim | nindent 6 }}
    resources:
      {{- toYaml .root.Values.api.resources | nindent 6 }}
    securityContext:
      {{- include "videogen.containerSecurity" .root | nindent 6 }}
    volumeMounts:
      {{- include "videogen.volumeMounts" .root | nindent 6 }}
volumes:
  {{- include "videogen.volumes" (dict "root" .root "workSize" .root.Values.api.workSize) | nindent 2 }}
{{- end }}
