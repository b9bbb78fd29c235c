{{- define "videogen.fullname" -}}
{{- if contains "videogen" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-videogen" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "videogen.selector" -}}
app.kubernetes.io/name: videogen
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "videogen.labels" -}}
{{ include "videogen.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "videogen.image" -}}
{{- $repository := required "image.repository: set it to where you pushed the image" .Values.image.repository }}
{{- if .Values.image.digest }}{{ $repository }}@{{ .Values.image.digest }}
{{- else }}{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "videogen.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "videogen.fullname" .) }}
{{- else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- define "videogen.secretName" -}}
{{- if .Values.secrets.create }}{{ include "videogen.fullname" . }}
{{- else }}{{ required "secrets.existingSecret: name a Secret with DATABASE_URL and VIDEOGEN_SECRET" .Values.secrets.existingSecret }}{{ end }}
{{- end }}

{{- define "videogen.catalogueMap" -}}
{{- if .Values.catalogue.content }}{{ include "videogen.fullname" . }}-catalogue{{ else }}{{ .Values.catalogue.existingConfigMap }}{{ end }}
{{- end }}

{{- define "videogen.claim" -}}
{{- .Values.results.volume.existingClaim | default (printf "%s-results" (include "videogen.fullname" .)) }}
{{- end }}

{{/* Variables of a process. `settings` are its own, which count before those of all; without `catalogue` it reads none. */}}
{{- define "videogen.env" -}}
{{- $values := .root.Values -}}
{{- $results := $values.results -}}
{{- $env := merge (dict) (.settings | default dict) $values.settings -}}
{{- $_ := required "settings.TEMPORAL_ADDRESS: set it to host:port of Temporal" (get $env "TEMPORAL_ADDRESS") -}}
{{- $_ := set $env "PUBLIC_URL" (required "publicUrl: set it to the address that clients use" $values.publicUrl) -}}
{{- $_ := set $env "HOST" (get $env "HOST" | default "0.0.0.0") -}}
{{- $_ := set $env "PORT" "3000" -}}
{{- $_ := set $env "METRICS_PORT" (toString $values.metrics.port) -}}
{{- $_ := set $env "SHUTDOWN_DELAY" (printf "%vs" $values.shutdownDelaySeconds) -}}
{{- $_ := set $env "VIDEOGEN_DATA" "/data" -}}
{{- if eq $results.type "s3" -}}
{{- $_ := set $env "RESULT_STORE" (printf "s3://%s" (required "results.s3.bucket: set it to BUCKET or BUCKET/PREFIX, or set results.type to volume" $results.s3.bucket)) -}}
{{- else -}}
{{- $_ := set $env "RESULT_STORE" "/results/videos" -}}
{{- end -}}
{{- $_ := set $env "RESULT_STORE_ALSO" $results.also -}}
{{- $_ := set $env "AWS_REGION" $results.s3.region -}}
{{- $_ := set $env "AWS_ENDPOINT_URL_S3" $results.s3.endpoint -}}
{{- $_ := set $env "S3_PATH_STYLE" $results.s3.pathStyle -}}
{{- if and .catalogue (include "videogen.catalogueMap" .root) -}}
{{- $_ := set $env "VIDEOGEN_MODELS" (printf "/etc/videogen/catalogue/%s" $values.catalogue.key) -}}
{{- end -}}
{{- range $setting, $_ := $values.secrets.keys }}
{{- $_ := set $env (printf "%s_FILE" $setting) (printf "/etc/videogen/secrets/%s" $setting) -}}
{{- end -}}
{{- range $name, $value := $env }}
{{- if ne (toString $value) "" }}
- name: {{ $name }}
  value: {{ toString $value | quote }}
{{- end }}
{{- end }}
{{- with $results.s3.existingSecret }}
{{- range $name := list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" }}
- name: {{ $name }}
  valueFrom: { secretKeyRef: { name: {{ $results.s3.existingSecret }}, key: {{ $name }} } }
{{- end }}
{{- end }}
{{- with $values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

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

{{- define "videogen.secretVolume" -}}
- name: secrets
  secret:
    secretName: {{ include "videogen.secretName" . }}
    defaultMode: 0440
    items:
      {{- range $setting, $key := .Values.secrets.keys }}
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
{{ include "videogen.secretVolume" .root }}
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
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "videogen.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "videogen.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
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
{{- get (merge (dict) (.settings | default dict) .root.Values.settings) "TEMPORAL_METRICS_PORT" -}}
{{- end }}

{{- define "videogen.hasSdkMetrics" -}}
{{- $root := . -}}
{{- range .Values.workers }}
{{- if and . (include "videogen.sdkMetricsPort" (dict "root" $root "settings" .settings)) }}yes{{ end }}
{{- end }}
{{- end }}
