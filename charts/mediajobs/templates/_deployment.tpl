{{/*
The Deployment of one process, with its PodDisruptionBudget.
dict: root, component, image, command (list), env (text), ports (list of dicts), graceSeconds,
      account (service account; "" for one without permissions and token), volumes, mounts (texts), preStopSeconds
*/}}
{{- define "mediajobs.deployment" -}}
{{- $root := .root -}}
{{- $values := index $root.Values .component -}}
{{- $name := printf "%s-%s" (include "mediajobs.fullname" $root) .component -}}
{{- $scaled := and (hasKey $values "autoscaling") (dig "autoscaling" "enabled" false $values) -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "mediajobs.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  {{- if not $scaled }}
  replicas: {{ $values.replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  strategy:
    rollingUpdate: {maxUnavailable: 0, maxSurge: 1}
  selector:
    matchLabels:
      {{- include "mediajobs.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
  template:
    metadata:
      labels:
        {{- include "mediajobs.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
      annotations:
        mediajobs.dev/connections: {{ include "mediajobs.connections" $root | sha256sum | trunc 16 | quote }}
        {{- with $values.podAnnotations }}{{ toYaml . | nindent 8 }}{{ end }}
    spec:
      serviceAccountName: {{ include "mediajobs.fullname" $root }}-{{ .account | default "idle" }}
      automountServiceAccountToken: {{ has .account (list "controller" "recorder") }}
      enableServiceLinks: false
      terminationGracePeriodSeconds: {{ .graceSeconds }}
      securityContext:
        {{- include "mediajobs.podSecurity" $root | nindent 8 }}
      {{- with $root.Values.image.pullSecrets }}
      imagePullSecrets: {{ toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- with $values.nodeSelector }}
      nodeSelector: {{ toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations: {{ toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.affinity }}
      affinity: {{ toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
        {{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
        - maxSkew: 1
          topologyKey: {{ $key }}
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "mediajobs.selector" $root | nindent 14 }}
              app.kubernetes.io/component: {{ $.component }}
        {{- end }}
      containers:
        - name: {{ .component }}
          image: {{ include "mediajobs.image" (dict "root" $root "image" .image) }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          command: {{ toJson .command }}
          env:
            - name: MEDIAJOBS_LOG_LEVEL
              value: {{ $root.Values.logLevel }}
            - name: MEDIAJOBS_OPS_HOST
              value: {{ $root.Values.listenHost | quote }}
            {{- .env | trim | nindent 12 }}
          ports:
            {{- range .ports }}
            - {name: {{ .name }}, containerPort: {{ .port }}}
            {{- end }}
            - {name: ops, containerPort: 9090}
          startupProbe:
            httpGet: {path: /healthz, port: ops}
            periodSeconds: 1
            failureThreshold: 300
          livenessProbe:
            httpGet: {path: /livez, port: ops}
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: {path: /readyz, port: ops}
            periodSeconds: 5
            timeoutSeconds: 6
          {{- with .preStopSeconds }}
          # Wait until every proxy has removed the pod from its endpoints.
          lifecycle:
            preStop:
              sleep: {seconds: {{ . }}}
          {{- end }}
          resources: {{ toYaml $values.resources | nindent 12 }}
          securityContext:
            {{- include "mediajobs.containerSecurity" $root | nindent 12 }}
          volumeMounts:
            - {name: tmp, mountPath: /tmp}
            {{- with .mounts }}{{ . | trim | nindent 12 }}{{ end }}
      volumes:
        - name: tmp
          emptyDir: {sizeLimit: {{ .tmpSize | default "256Mi" }}}
        {{- with .volumes }}{{ . | trim | nindent 8 }}{{ end }}
{{- if $root.Values.podDisruptionBudgets }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels:
    {{- include "mediajobs.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "mediajobs.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
{{- end }}
{{- end }}

{{/* dict root, component, ports: list of dicts name, port, target */}}
{{- define "mediajobs.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "mediajobs.fullname" .root }}-{{ .component }}
  labels:
    {{- include "mediajobs.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  {{- with .annotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .type | default "ClusterIP" }}
  {{- with .clusterIP }}
  clusterIP: {{ . }}
  {{- end }}
  selector:
    {{- include "mediajobs.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  ports:
    {{- range .ports }}
    - name: {{ .name }}
      port: {{ .port }}
      targetPort: {{ .target }}
      {{- with .nodePort }}
      nodePort: {{ . }}
      {{- end }}
    {{- end }}
{{- end }}
